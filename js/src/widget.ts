// The entry anywidget loads: one model per kernel, the hub. It needs no view; where a front end insists on one
// (VS Code, Colab), the view shows the newest run.

import { Host } from "./host.ts";
import type { FromKernel } from "./protocol.ts";
import { Store } from "./store.ts";

/** What we use of anywidget's model. */
interface Model {
	on(name: "msg:custom", callback: (content: FromKernel) => void): void;
	off(name: "msg:custom", callback: (content: FromKernel) => void): void;
	send(content: Record<string, unknown>): void;
}

interface Hub {
	store: Store;
	host: Host;
}

const hubs = new WeakMap<Model, Hub>();
let newest: Hub | null = null;

function initialize({ model }: { model: Model }): () => void {
	const store = new Store((message) => model.send(message));
	const host = new Host(store);
	const hub = { store, host };
	const receive = (content: FromKernel): void => store.receive(content);
	const abort = new AbortController();
	hubs.set(model, hub);
	newest = hub;
	model.on("msg:custom", receive);
	host.watch(abort.signal);
	return () => {
		abort.abort();
		model.off("msg:custom", receive);
		if (newest === hub) newest = null;
	};
}

function render({ model, el }: { model: Model; el: HTMLElement }): (() => void) | undefined {
	// anywidget may hand each hook its own proxy of the model.
	const hub = hubs.get(model) ?? newest;
	const run = hub?.store.latest;
	if (!hub || !run) return undefined;
	hub.host.mount(el, run);
	return () => hub.host.unmount(el);
}

export default { initialize, render };
