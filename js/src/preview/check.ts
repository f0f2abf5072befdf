// Looks at a page for the kernel. The code that does it is large, so the kernel sends it when it is first needed.

import type * as Check from "../check/look.ts";
import { loadModule } from "../loading.ts";
import type { CheckMessage } from "../protocol.ts";
import type { RunEntry } from "../runs.ts";
import { textOf } from "../state.ts";
import { Frame } from "./frame.ts";
import { Resolver } from "./resolve.ts";

/** One page at a time: several variants may ask at once. */
let last: Promise<unknown> = Promise.resolve();

export function checkPage(run: RunEntry, message: CheckMessage): void {
	const { check_id } = message;
	last = Promise.all([loadModule<typeof Check>(run, "check"), last])
		.then(([{ look }]) => look({ Frame, Resolver, textOf }, run, message))
		.then((report) => ({ ok: true, report }))
		.catch((error) => ({ ok: false, error: String(error) }))
		.then((answer) => void run.command("checked", { check_id, ...answer }));
}
