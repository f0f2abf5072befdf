// Looks at a page for the kernel. The code that does it is large, so the kernel sends it when it is first needed.

import type * as Module from "../check/look.ts";
import type { CheckMessage } from "../protocol.ts";
import type { RunEntry } from "../runs.ts";
import { textOf } from "../state.ts";
import { Frame } from "./frame.ts";
import { Resolver } from "./resolve.ts";

let module: Promise<typeof Module> | null = null;
/** One page at a time: several variants may ask at once. */
let last: Promise<unknown> = Promise.resolve();

export function checkPage(run: RunEntry, message: CheckMessage): void {
	const { check_id } = message;
	module ??= load(run);
	last = Promise.all([module, last])
		.then(([{ look }]) => look({ Frame, Resolver, textOf }, run, message))
		.then((report) => ({ ok: true, report }))
		.catch((error) => ({ ok: false, error: String(error) }))
		.then((answer) => void run.command("checked", { check_id, ...answer }));
}

/** Imports the text as anywidget imports the widget itself. */
async function load(run: RunEntry): Promise<typeof Module> {
	const answer = await run.command("module", { name: "check" });
	if (!answer.ok) {
		module = null;
		throw new Error(answer.error);
	}
	const url = URL.createObjectURL(new Blob([String(answer.code)], { type: "text/javascript" }));
	return import(url).finally(() => URL.revokeObjectURL(url));
}
