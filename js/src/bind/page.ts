// `run.page`: shows the page of a run alone, in a sandboxed frame, connected to the store in the kernel.

import { h } from "../dom.ts";
import type { BoundName } from "../events.ts";
import { isInside, type Kernel, watchKernel } from "../windows.ts";
import { PageLink } from "./link.ts";
import type { FromStore } from "./messages.ts";

type Message = (FromStore | { do: "page"; html: string; bound: BoundName[] }) & { view: string };

/** The subset we use of anywidget's model. */
interface Model {
	on(name: "msg:custom", callback: (message: Message) => void): void;
	off(name: "msg:custom", callback: (message: Message) => void): void;
	send(message: Record<string, unknown>): void;
	widget_manager?: { kernel?: Kernel };
}

const SANDBOX = "allow-scripts allow-forms";
const FRAME = "display:block;width:100%;height:480px;border:0;background:#fff";
const STATUS = "padding:4px 8px;font:12px/1.5 system-ui,sans-serif;opacity:.8";

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
	const abort = new AbortController();
	const status = h("div", { role: "status" });
	const frame = h("iframe", { title: "Page", sandbox: SANDBOX, referrerpolicy: "no-referrer" });
	status.style.cssText = STATUS;
	frame.style.cssText = FRAME;
	el.replaceChildren(status, frame);
	const view = `${performance.timeOrigin}-${Math.random()}`;
	let link: PageLink | null = null;
	const show = (text: string): void => {
		status.textContent = text;
		status.hidden = text === "";
	};
	const events = {
		onStatus: show,
		onNote: (level: "log" | "error", text: string) => console[level](text),
		onFlood() {
			frame.removeAttribute("srcdoc");
			show("The page sent too many messages and was stopped. Show it again to load it.");
		},
	};

	function load({ html, bound }: Message & { do: "page" }): void {
		link = new PageLink(bound, (message) => model.send(message));
		frame.srcdoc = html;
		show(html ? "" : "This run has no page.");
	}
	/** The frame's first message contains the port of its page. Later messages are ignored. */
	function greet({ source, data, ports }: MessageEvent<{ agent_nb_page?: unknown } | null>): void {
		if (!isInside(source as Window | null, frame.contentWindow) || data?.agent_nb_page !== true) return;
		const [port] = ports;
		if (port && !frame.dataset.connected) link?.attach(port, events, abort.signal);
		frame.dataset.connected = "true";
	}
	function receive(message: Message): void {
		if (message.do !== "page") link?.receive(message);
		else if (message.view === view) load(message);
	}

	show("Waiting for the kernel.");
	window.addEventListener("message", greet, { signal: abort.signal });
	model.on("msg:custom", receive);
	const unwatch = watchKernel(model.widget_manager?.kernel, (why) => link?.lose(`Not connected: ${why}.`));
	model.send({ do: "page", view });
	return () => {
		abort.abort();
		link?.close();
		unwatch();
		model.off("msg:custom", receive);
	};
}

export default { render };
