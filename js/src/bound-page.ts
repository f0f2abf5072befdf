// `run.page` and exported pages: shows a page alone, in the frame of a preview, connected to Python.

import { h, showText } from "./base/dom.ts";
import { type Kernel, watchKernel } from "./base/windows.ts";
import { Frame } from "./page/frame.ts";
import { LOSSES, type Loss } from "./page/messages.ts";
import type { FromStore } from "./run/bound-messages.ts";
import type { BoundName } from "./run/events.ts";
import { PageLink } from "./run/page-link.ts";

type Message = (FromStore | { do: "page"; html: string; bound: BoundName[] }) & { view: string };

/** The subset we use of anywidget's model. */
interface Model {
	on(name: "msg:custom", callback: (message: Message) => void): void;
	off(name: "msg:custom", callback: (message: Message) => void): void;
	send(message: Record<string, unknown>): void;
	widget_manager?: { kernel?: Kernel };
}

const FRAME = "display:block;width:100%;height:480px;border:0;background:#fff";
const STATUS = "padding:4px 8px;font:12px/1.5 system-ui,sans-serif;opacity:.8";

/** Shows the page below a line for its status. Returns its frame. */
function showPage(el: HTMLElement, html: string, link: PageLink, show: (text: string) => void): Frame {
	const onLost = (why: Loss): void => {
		frame.dispose();
		show(`${LOSSES[why]} Show it again to load it.`);
	};
	const events = {
		onStatus: show,
		onNote: (level: "log" | "error", text: string) => console[level](text),
		onFlood: () => onLost("flooded"),
	};
	const isBound = link.names.length > 0;
	const handlers = {
		onReady() {
			frame.open(isBound ? link.connect(events, frame.signal) : null);
			frame.write(html);
			frame.close();
		},
		onBlocked: (tag: string) => console.warn(`Blocked by the sandbox: ${tag}`),
		onLost,
	};
	const frame: Frame = new Frame(handlers, isBound ? "bound" : "closed");
	frame.element.title = "Page";
	frame.element.style.cssText = FRAME;
	el.append(frame.element);
	return frame;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
	const status = h("div", { role: "status" });
	status.style.cssText = STATUS;
	el.replaceChildren(status);
	const view = `${performance.timeOrigin}-${Math.random()}`;
	let link: PageLink | null = null;
	let frame: Frame | null = null;
	const show = (text: string): void => showText(status, text);
	function receive(message: Message): void {
		if (message.do !== "page") link?.receive(message);
		else if (message.view === view) {
			link = new PageLink(message.bound, (answer) => model.send(answer));
			show(message.html ? "" : "This run has no page.");
			if (message.html) frame = showPage(el, message.html, link, show);
		}
	}

	show("Waiting for the kernel.");
	model.on("msg:custom", receive);
	const unwatch = watchKernel(model.widget_manager?.kernel, (why) => link?.lose(`Not connected: ${why}.`));
	model.send({ do: "page", view });
	return () => {
		frame?.dispose();
		link?.close();
		unwatch();
		model.off("msg:custom", receive);
	};
}

export default { render };
