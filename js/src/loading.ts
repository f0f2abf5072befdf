// Loads code that is not part of the bundle: the kernel sends it when it is first needed. Whoever loads a module names its
// type, such as `loadModule<typeof Zip>(run, "zip")`: this file must not know of modules that load others themselves.

import type { RunEntry } from "./runs.ts";

/** Milliseconds for which something waits for its code at most, where there is something simpler to do. */
const SOON = 3000;

const loaded = new Map<string, Promise<unknown>>();
const known = new Map<string, unknown>();

export function loadModule<Module>(run: RunEntry, name: string): Promise<Module> {
	const asked = loaded.get(name) ?? load(run, name);
	loaded.set(name, asked);
	asked.then(
		(module) => provideModule(name, module),
		() => loaded.delete(name),
	);
	return asked as Promise<Module>;
}

/** The module, or null if the kernel does not send it, or takes long. */
export function loadSoon<Module>(run: RunEntry, name: string): Promise<Module | null> {
	const late = new Promise<null>((resolve) => setTimeout(resolve, SOON, null));
	return Promise.race([loadModule<Module>(run, name).catch(() => null), late]);
}

/** Makes a module known, such as one that is part of the bundle. */
export function provideModule(name: string, module: unknown): void {
	known.set(name, module);
	loaded.set(name, Promise.resolve(module));
}

/** A module that is there already. */
export function knownModule<Module>(name: string): Module | null {
	return (known.get(name) as Module | undefined) ?? null;
}

/** Imports the text as anywidget imports the widget itself. */
async function load(run: RunEntry, name: string): Promise<unknown> {
	const answer = await run.command("module", { name });
	if (!answer.ok) throw new Error(answer.error);
	const url = URL.createObjectURL(new Blob([String(answer.code)], { type: "text/javascript" }));
	return import(url).finally(() => URL.revokeObjectURL(url));
}
