// A part of the frame whose code is loaded when it is first wanted.

import { knownModule, loadModule } from "../../loading.ts";
import type { Context, Snapshot } from "../context.ts";

interface Late<Module> {
	wanted(snapshot: Snapshot): boolean;
	build(module: Module): (snapshot: Snapshot) => void;
	/** Called if the kernel does not send the code. */
	fail?(): void;
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
