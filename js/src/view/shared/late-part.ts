// A part of the frame whose code is loaded when it is first wanted.

import { h } from "../../dom.ts";
import { knownModule, loadModule } from "../../loading.ts";
import type { Context, Snapshot } from "../context.ts";

interface Wish {
	wanted(snapshot: Snapshot): boolean;
	/** Called if the kernel does not send the code. */
	fail?(): void;
}

interface Late<Module> extends Wish {
	build(module: Module): (snapshot: Snapshot) => void;
}

interface LateView<Module> extends Wish {
	create(module: Module): { element: HTMLElement; update(snapshot: Snapshot): void };
}

/** Returns a function that draws the part. Code that the kernel did not send is asked for again with the next wish. */
export function createLatePart<Module>(
	context: Context,
	name: string,
	{ wanted, build, fail }: Late<Module>,
): (snapshot: Snapshot) => void {
	let draw: ((snapshot: Snapshot) => void) | null = null;
	let asked = false;

	async function load(): Promise<void> {
		const module = await loadModule<Module>(context.run, name).catch(() => null);
		if (context.signal.aborted) return;
		if (module) draw ??= build(module);
		else fail?.();
		context.redraw();
	}

	return (snapshot) => {
		const wish = !draw && wanted(snapshot);
		const known = wish && knownModule<Module>(name);
		if (known) draw = build(known);
		else if (wish && !asked) void load();
		asked = wish;
		draw?.(snapshot);
	};
}

/** A part with an element of its own, in its place from then on. */
export function createLateView<Module>(context: Context, name: string, late: LateView<Module>) {
	const element = h("div", { hidden: true });
	const update = createLatePart<Module>(context, name, {
		...late,
		build(module) {
			const view = late.create(module);
			element.replaceWith(view.element);
			return view.update;
		},
	});
	return { element, update };
}
