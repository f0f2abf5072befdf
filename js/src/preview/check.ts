// Checks a page for the kernel. The code is large, so the kernel sends it when it is first needed.

import type * as Check from "../check/look.ts";
import type { CheckMessage } from "../protocol.ts";
import type { RunEntry } from "../runs.ts";

/** One page at a time: several variants may request a check at once. */
let last: Promise<unknown> = Promise.resolve();
let loaded: typeof Check | null = null;

export function checkPage(run: RunEntry, message: CheckMessage): void {
	const { check_id } = message;
	last = last
		.then(() => load(run))
		.then(({ look }) => look(run, message))
		.then((report) => ({ ok: true, report }))
		.catch((error) => ({ ok: false, error: String(error) }))
		.then((answer) => void run.command("checked", { check_id, ...answer }));
}

/** Imports the code as anywidget imports the widget itself. */
async function load(run: RunEntry): Promise<typeof Check> {
	if (loaded) return loaded;
	const answer = await run.command("check_code");
	if (!answer.ok) throw new Error(answer.error);
	const url = URL.createObjectURL(new Blob([String(answer.code)], { type: "text/javascript" }));
	loaded = (await import(url).finally(() => URL.revokeObjectURL(url))) as typeof Check;
	return loaded;
}
