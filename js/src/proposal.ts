// The changes of cells that a run offers, and the user's decisions about them. The view is `view/result/proposal.ts`.

import type { CellWrite } from "../lab/interface.ts";
import { cellSource, isReadable } from "./cell-source.ts";
import { canInsert, labExtension } from "./cells.ts";
import { titleOf } from "./changes.ts";
import type { CellChange, ChangeDecision } from "./events.ts";
import type { Context } from "./view/context.ts";

const MASK = "•••";

export function decisionOf({ run }: Context, { id }: CellChange): ChangeDecision {
	return run.state?.meta.decided.findLast(({ change }) => change === id)?.decision ?? "open";
}

/** Why the changes are only shown; empty if they can be accepted. */
export function whyNot({ run, choices }: Context): string {
	const { meta, ready, lost = "" } = run.state ?? {};
	if (choices.replay || !meta?.reviewable || lost || !run.greeted)
		return "Shown as recorded. Run the cell again to be offered these changes.";
	if (!ready) return "You can accept these changes when the run has ended.";
	if (run.notebook?.model.readOnly) return "This notebook is read-only, so nothing can be accepted.";
	return canInsert(run) ? "" : "agent_nb's JupyterLab extension is needed to accept these changes.";
}

/** The source of a change's cell now; null if it is not in the notebook. */
export function sourceNow({ run }: Context, { cell_id }: CellChange): string | null {
	return labExtension()?.sourceNow(run.notebook, cell_id) ?? null;
}

/** Whether the cell is no longer as it was. A masked text cannot be compared here; Accept compares the real one. */
export function isStale(context: Context, change: CellChange): boolean {
	if (change.action === "insert") return false;
	if (change.before.includes(MASK)) return context.run.stale.has(change.id);
	return sourceNow(context, change) !== change.before;
}

/** Whether the cell is as an accepted change has left it. */
export function isAsShown(context: Context, change: CellChange): boolean {
	const now = sourceNow(context, change);
	if (change.action === "delete") return now === null;
	return now !== null && (change.after.includes(MASK) || now === change.after);
}

/** Scrolls to the cell and marks it. */
export function show({ run }: Context, { cell_id }: CellChange): void {
	labExtension()?.showCell(run.notebook, cell_id);
}

export async function refuse(context: Context, changes: readonly CellChange[]): Promise<void> {
	const ids = changes.map(({ id }) => id);
	if (await decide(context, ids, "refused")) context.run.presses.push({ changes: ids, written: [] });
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
	const done = written.map(({ change }) => change.id);
	const failed = ids.filter((id) => !done.includes(id));
	for (const id of failed) context.run.stale.add(id);
	if (failed.length) await decide(context, failed, "open");
	if (done.length) context.run.presses.push({ changes: done, written });
	const unlike = written.filter(({ isThere }) => !isThere).map(({ change }) => change.id);
	const titles = (some: readonly string[]): string => listed(changes.filter(({ id }) => some.includes(id)));
	if (failed.length) context.notify(`Not written: ${titles(failed)}. ${whyFailed(context, changes, failed)}`);
	else if (unlike.length) context.notify(`Written, but the notebook has another text: ${titles(unlike)}`);
	else context.announce(`Written and read back: ${titles(done)}`);
	if (runs && done.length) run(context, changes, press);
	context.redraw();
}

function whyFailed(context: Context, changes: readonly CellChange[], ids: readonly string[]): string {
	const failed = changes.filter(({ id }) => ids.includes(id));
	if (failed.some((change) => isStale(context, change))) return "The cell has changed since.";
	const isHidden = failed.some(({ after }) => after !== "" && !isReadable(after));
	return isHidden ? "It has invisible characters." : "The cell is locked or gone, or the kernel was busy.";
}

function listed(changes: readonly CellChange[]): string {
	return changes.map(titleOf).join("; ");
}

export function isCode({ kind, action }: CellChange): boolean {
	return kind === "code" && action !== "delete";
}

/** Runs code cells that are as shown, in order. One with a mask in it is not shown whole. */
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

/** Takes the last press back, as far as its cells are unchanged. */
export async function undo(context: Context, press: UIEvent): Promise<void> {
	const last = context.run.presses.pop();
	if (!last) return;
	const reversed = last.written.toReversed();
	const isBack = labExtension()?.takeBack(context.run.notebook, reversed, press) ?? [];
	const kept = reversed.filter((_, index) => !isBack[index]).map(({ change }) => change.id);
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
