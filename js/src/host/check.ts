// Checks a page for the kernel. The code is large, so the kernel sends it when it is first needed.

import type { Report } from "../page/check/messages.ts";
import type { CheckMessage } from "../run/protocol.ts";
import type { RunEntry } from "../run/runs.ts";

/** The module `page-check.ts`. */
interface PageCheck {
	look(run: RunEntry, message: CheckMessage): Promise<Report>;
}

/** One page at a time: several variants may request a check at once. */
let last: Promise<unknown> = Promise.resolve();
let loaded: PageCheck | null = null;

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
async function load(run: RunEntry): Promise<PageCheck> {
	if (loaded) return loaded;
	const answer = await run.command("check_code");
	if (!answer.ok) throw new Error(answer.error);
	const url = URL.createObjectURL(new Blob([String(answer.code)], { type: "text/javascript" }));
	loaded = (await import(url).finally(() => URL.revokeObjectURL(url))) as PageCheck;
	return loaded;
}
