// Loads code that is not part of the bundle: the kernel sends it when it is first needed.

import type * as Annotations from "./annotations/annotations.ts";
import type * as Check from "./check/look.ts";
import type * as Form from "./form/form.ts";
import type * as Inspect from "./inspect/inspector.ts";
import type * as Morph from "./preview/morph.ts";
import type { RunEntry } from "./runs.ts";
import type { Context, Snapshot } from "./view/context.ts";
import type * as Reminder from "./view/transcript/reminder.ts";
import type * as Request from "./view/transcript/request.ts";
import type * as Outputs from "./view/transcript/rich-outputs.ts";
import type * as Zip from "./zip.ts";

/** `view/replay/scrubber.ts`, which loads modules itself. */
export interface Scrubber {
	createScrubber(context: Context, place: HTMLElement, shown: boolean): { update(snapshot: Snapshot): void };
}

export interface Modules {
	annotations: typeof Annotations;
	check: typeof Check;
	form: typeof Form;
	inspect: typeof Inspect;
	morph: typeof Morph;
	outputs: typeof Outputs;
	reminder: typeof Reminder;
	request: typeof Request;
	scrubber: Scrubber;
	zip: typeof Zip;
}

/** Milliseconds for which something waits for its code at most, where there is something simpler to do. */
const SOON = 3000;

const loaded = new Map<string, Promise<unknown>>();
const known: Partial<Modules> = {};

export function loadModule<K extends keyof Modules>(run: RunEntry, name: K): Promise<Modules[K]> {
	const asked = (loaded.get(name) ?? load(run, name)) as Promise<Modules[K]>;
	loaded.set(name, asked);
	asked.then(
		(module) => provideModule(name, module),
		() => loaded.delete(name),
	);
	return asked;
}

/** The module, or null if the kernel does not send it, or takes long. */
export async function loadSoon<K extends keyof Modules>(run: RunEntry, name: K): Promise<Modules[K] | null> {
	const late = new Promise<null>((resolve) => setTimeout(resolve, SOON, null));
	return Promise.race([loadModule(run, name).catch(() => null), late]);
}

/** Makes a module known, such as one that is part of the bundle. */
export function provideModule<K extends keyof Modules>(name: K, module: Modules[K]): void {
	known[name] = module;
	loaded.set(name, Promise.resolve(module));
}

/** A module that is there already. */
export function knownModule<K extends keyof Modules>(name: K): Modules[K] | null {
	return known[name] ?? null;
}

/** Imports the text as anywidget imports the widget itself. */
async function load(run: RunEntry, name: string): Promise<unknown> {
	const answer = await run.command("module", { name });
	if (!answer.ok) throw new Error(answer.error);
	const url = URL.createObjectURL(new Blob([String(answer.code)], { type: "text/javascript" }));
	return import(url).finally(() => URL.revokeObjectURL(url));
}
