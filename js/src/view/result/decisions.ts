// The changes of cells that a run offers, and the user's decisions about them. The view is `view/result/proposal.ts`.

import { cellSource } from "../../run/cell-source.ts";
import { canInsert, labExtension } from "../../run/cells.ts";
import { titleOf } from "../../run/changes.ts";
import type { CellAction, CellChange, ChangeDecision } from "../../run/events.ts";
import type { CellWrite } from "../../run/lab.ts";
import type { Context } from "../context.ts";

const MASK = "•••";
export const NO_EXTENSION = "agent_nb's JupyterLab extension is needed to accept these changes.";

/** A change and its cell as they are now. */
export interface Standing {
	readonly decision: ChangeDecision;
	/** The decision, or why it cannot be accepted; empty while it can. */
	readonly words: string;
	/** The current text of the cell if it has changed since; else null. */
	readonly now: string | null;
}

/** Why the changes are only shown; empty if they can be accepted. */
export function whyNot({ run, choices }: Context): string {
	const { meta, ready, lost = "" } = run.state ?? {};
	if (choices.replay || !meta?.reviewable || lost || !run.greeted)
		return "Shown as recorded. Run the cell again to be offered these changes.";
	if (!ready) return "You can accept these changes when the run has ended.";
	if (run.notebook?.model.readOnly) return "This notebook is read-only, so nothing can be accepted.";
	return canInsert(run) ? "" : NO_EXTENSION;
}

export function standingOf(context: Context, change: CellChange): Standing {
	const { id, action, after } = change;
	const decision = context.run.state?.meta.decided.findLast((row) => row.change === id)?.decision ?? "open";
	const now = sourceNow(context, change);
	if (whyNot(context)) return { decision, words: decision === "open" ? "" : decision, now: null };
	if (decision === "refused") return { decision, words: "Refused", now: null };
	if (decision === "accepted") {
		const isThere = action === "delete" ? now === null : now === after || (now && after.includes(MASK));
		return { decision, words: isThere ? acceptedWords(action) : "Accepted, then changed", now: null };
	}
	if (!isStale(context, change, now)) return { decision, words: "", now: null };
	return {
		decision,
		words: now === null ? "The cell is gone" : "The cell has changed since",
		now: now ?? "",
	};
}

function acceptedWords(action: CellAction): string {
	return `Accepted: the notebook ${action === "delete" ? "no longer has" : "has"} it`;
}

/** Whether the cell is no longer as it was. A masked text cannot be compared here; Accept compares the real one. */
function isStale({ run }: Context, { id, action, before }: CellChange, now: string | null): boolean {
	if (action === "insert") return false;
	return before.includes(MASK) ? now === null || run.stale.has(id) : now !== before;
}

/** The source of a change's cell now; null if it is not in the notebook. */
export function sourceNow({ run }: Context, { cell_id }: CellChange): string | null {
	return labExtension()?.sourceNow(run.notebook, cell_id) ?? null;
}

/** Scrolls to the cell and marks it. */
export function show({ run }: Context, { cell_id }: CellChange): void {
	labExtension()?.showCell(run.notebook, cell_id);
}

export async function refuse(context: Context, { id }: CellChange): Promise<void> {
	if (await decide(context, [id], "refused")) context.run.presses.push({ changes: [id], written: [] });
	context.redraw();
}

/** Writes these changes, except where a cell has changed since; runs the accepted code cells if `runs` is set. */
export async function accept(
	context: Context,
	changes: readonly CellChange[],
	press: UIEvent,
	runs = false,
): Promise<void> {
	const ids = changes.map(({ id }) => id);
	const answer = await decide(context, ids, "accepted");
	const lab = labExtension();
	if (!answer || !lab) return;
	const written = lab.write(context.run.notebook, readWrites(answer), press).filter((one) => one !== null);
	const done = written.map(({ id }) => id);
	const failed = ids.filter((id) => !done.includes(id));
	for (const id of failed) context.run.stale.add(id);
	if (failed.length) await decide(context, failed, "open");
	if (done.length) context.run.presses.push({ changes: done, written });
	const unlike = written.filter(({ isThere }) => !isThere).map(({ id }) => id);
	const titles = (some: readonly string[]): string => listed(changes.filter(({ id }) => some.includes(id)));
	if (failed.length)
		context.notify(
			`Not written: ${titles(failed)}. It has changed since, is locked, or cannot be shown whole.`,
		);
	else if (unlike.length) context.notify(`Written, but the notebook has another text: ${titles(unlike)}`);
	else context.announce(`Written and read back: ${titles(done)}`);
	if (runs && done.length) run(context, changes, press);
	context.redraw();
}

function listed(changes: readonly CellChange[]): string {
	return changes.map(titleOf).join("; ");
}

export function isCode({ kind, action }: CellChange): boolean {
	return kind === "code" && action !== "delete";
}

/** Runs the code cells that are as shown, in order. A cell with a mask in it is not run: it is not shown whole. */
function run(context: Context, changes: readonly CellChange[], press: UIEvent): void {
	const code = changes.filter(isCode);
	const shown = code.filter(
		(change) =>
			cellSource("shown", { shown: change.after }) !== null && sourceNow(context, change) === change.after,
	);
	const ids = shown.map(({ cell_id }) => cell_id);
	const isRun = ids.length > 0 && labExtension()?.runCells(context.run.notebook, ids, press);
	const left = code.filter((change) => !isRun || !shown.includes(change));
	if (left.length) context.notify(`Not run: ${listed(left)}. Run it in the notebook.`);
}

/** Takes back the last press, for cells that are unchanged since. */
export async function undo(context: Context, press: UIEvent): Promise<void> {
	const last = context.run.presses.pop();
	if (!last) return;
	const reversed = last.written.toReversed();
	const isBack = labExtension()?.takeBack(context.run.notebook, reversed, press) ?? [];
	const kept = reversed.filter((_, index) => !isBack[index]).map(({ id }) => id);
	const open = last.changes.filter((id) => !kept.includes(id));
	if (open.length) await decide(context, open, "open");
	if (kept.length) context.notify("A cell that has changed since stays as it is");
	else context.announce("Taken back");
	context.redraw();
}

/** The kernel's answer to a decision; null if it refused, which is shown. */
async function decide(context: Context, changes: readonly string[], decision: ChangeDecision) {
	const { variant } = context.choices;
	const answer = await context.run.command("decide", { variant, changes, decision });
	if (!answer.ok) context.notify(answer.error);
	return answer.ok ? answer : null;
}

/** The texts to write. One with invisible characters is left out: the user has not seen it as it is. */
function readWrites({ changes, made }: Record<string, unknown>): CellWrite[] {
	return (changes as Omit<CellWrite, "made">[]).flatMap((change) => {
		const after = change.after === "" ? change.after : cellSource("code", { code: change.after });
		return after === null ? [] : [{ ...change, after, made: made as CellWrite["made"] }];
	});
}
