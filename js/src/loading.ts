// Loads code that is not part of the bundle: the kernel sends it when it is first needed.

import type * as Annotations from "./annotations/annotations.ts";
import type * as Check from "./check/look.ts";
import type * as Form from "./form/form.ts";
import type * as Inspect from "./inspect/inspector.ts";
import type { RunEntry } from "./runs.ts";
import type * as Reminder from "./view/transcript/reminder.ts";
import type * as Request from "./view/transcript/request-parts.ts";
import type * as Zip from "./zip.ts";

interface Modules {
	annotations: typeof Annotations;
	check: typeof Check;
	form: typeof Form;
	inspect: typeof Inspect;
	reminder: typeof Reminder;
	request: typeof Request;
	zip: typeof Zip;
}

const loaded = new Map<string, Promise<unknown>>();

export function loadModule<K extends keyof Modules>(run: RunEntry, name: K): Promise<Modules[K]> {
	const known = loaded.get(name) ?? load(run, name);
	loaded.set(name, known);
	known.catch(() => loaded.delete(name));
	return known as Promise<Modules[K]>;
}

/** Makes a module known that is part of the bundle. */
export function provideModule<K extends keyof Modules>(name: K, module: Modules[K]): void {
	loaded.set(name, Promise.resolve(module));
}

/** Imports the text as anywidget imports the widget itself. */
async function load(run: RunEntry, name: string): Promise<unknown> {
	const answer = await run.command("module", { name });
	if (!answer.ok) throw new Error(answer.error);
	const url = URL.createObjectURL(new Blob([String(answer.code)], { type: "text/javascript" }));
	return import(url).finally(() => URL.revokeObjectURL(url));
}
