// The entry point for anywidget: one model per kernel, the hub. It needs no view; if a front end requires one (VS Code,
// Colab), the view shows the newest run. In marimo there is one model per run, and its view shows that run.

import { setTypesetter, type Typesetter } from "./base/markdown/typeset.ts";
import { type Kernel, watchKernel } from "./base/windows.ts";
import { checkPage } from "./host/check.ts";
import { Host } from "./host/host.ts";
import type { NotebookContext } from "./run/cells.ts";
import type { FromKernel } from "./run/protocol.ts";
import type { RunState } from "./run/run-state.ts";
import { type ElementPath, Runs } from "./run/runs.ts";

/** The subset we use of anywidget's model. Each hook gets its own proxy, so the host is looked up by its kernel. */
interface Model {
	/** `channel` is set for a kernel in this browser, which handles no comm messages while a cell runs. */
	get(name: "kernel" | "channel"): string;
	/** Only in marimo: the run to show, and its frozen form. */
	get(name: "key" | "frozen"): string | undefined;
	get(name: "variant" | "selection"): unknown;
	set(name: "variant" | "selection", value: unknown): void;
	save_changes(): void;
	on(name: "msg:custom", callback: (content: FromKernel) => void): void;
	off(name: "msg:custom", callback: (content: FromKernel) => void): void;
	send(content: Record<string, unknown>): void;
	/** JupyterLab's manager exposes its kernel and its notebook; others may not. */
	widget_manager?: {
		context?: NotebookContext;
		kernel?: Kernel;
		rendermime?: { latexTypesetter?: Typesetter | null };
	};
}

const hosts = new Map<string, Host>();

function initialize({ model }: { model: Model }): () => void {
	const kernel = model.get("kernel");
	const channel = model.get("channel") ? new BroadcastChannel(model.get("channel")) : null;
	const send = (message: Record<string, unknown>): void => {
		if (runs.gone) return; // the comm of a kernel that is gone throws
		if (channel) channel.postMessage(JSON.stringify(message));
		else model.send(message);
	};
	const runs = new Runs(send, model.widget_manager?.context ?? null);
	const host = new Host(runs);
	setTypesetter(model.widget_manager?.rendermime?.latexTypesetter ?? undefined);
	runs.onCheck = checkPage;
	const key = model.get("key");
	if (key) runs.get(key).onDraw = (run, selection) => report(model, run, selection);
	const abort = new AbortController();
	hosts.set(kernel, host);
	model.on("msg:custom", runs.receive);
	const unwatch = watchKernel(model.widget_manager?.kernel, (why) => !runs.gone && host.lose(why));
	host.watch(abort.signal);
	if (runs.notebook) void host.restore();
	return () => {
		abort.abort();
		channel?.close();
		model.off("msg:custom", runs.receive);
		unwatch();
		if (hosts.get(kernel) === host) hosts.delete(kernel);
	};
}

/** Sets the traits that marimo's reactive cells read: the picked variant and the selected elements. */
function report(model: Model, { ready }: RunState, places: readonly ElementPath[]): void {
	if (!ready) return;
	const value = { variant: ready.variant + 1, selection: places.map(({ path, file }) => ({ path, file })) };
	for (const name of ["variant", "selection"] as const) {
		if (JSON.stringify(model.get(name)) === JSON.stringify(value[name])) continue;
		model.set(name, value[name]);
		model.save_changes();
	}
}

function render({ model, el }: { model: Model; el: HTMLElement }): (() => void) | undefined {
	const host = hosts.get(model.get("kernel"));
	if (!host) return undefined;
	el.innerHTML = model.get("frozen") ?? ""; // stays visible where no kernel answers
	host.show(el, model.get("key"));
	return () => host.unmount(el);
}

export default { initialize, render };
