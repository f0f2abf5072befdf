// The first frames of runs in the notebook's document, which has them also where the page draws none: out of sight.

import type { CellOutput, NotebookContext } from "./cells.ts";
import type { LostRun } from "./protocol.ts";
import type { RunEntry } from "./runs.ts";

/** The run's id, on the output of a run under way: the same cell may be running in another notebook. */
export const ID = "data-anb-id";

/** Milliseconds in which a shared notebook gets the result from the window that ran the cell. */
const WRITE_AFTER = 1000;

/** The first frames of a run, each with a function that replaces it; none where the notebook cannot be read. */
function firstFrames(
	notebook: NotebookContext | null,
	run_id: string,
): ((data: CellOutput["data"]) => void)[] {
	return [...(notebook?.model.sharedModel.cells ?? [])].flatMap((cell) =>
		(cell.getOutputs?.() ?? []).flatMap((output, index) =>
			String(output.data?.["text/html"]).includes(`${ID}="${run_id}"`)
				? [(data) => cell.updateOutputs?.(index, index + 1, [{ ...output, data }])]
				: [],
		),
	);
}

/** Puts the first frame of a run into its cell again, if the notebook was not saved with it before it was loaded again. */
export function restoreFirstFrame(
	notebook: NotebookContext | null,
	{ run_id, cell_id, data }: LostRun,
): void {
	const cell = notebook?.model.sharedModel.cells.find((one) => one.getId?.() === cell_id);
	if (!cell || notebook?.model.readOnly || firstFrames(notebook, run_id).length) return;
	const output = { output_type: "display_data", data, metadata: {} };
	cell.updateOutputs?.(0, cell.getOutputs?.().length ?? 0, [output]);
}

/**
 * Replaces first frames that the kernel could not: its update of a display reaches only the cell that was run, and not
 * after it was cut and pasted, or the page was loaded again.
 */
export async function replaceFirstFrames(run: RunEntry): Promise<void> {
	const { notebook, state } = run;
	const isMissing = (): boolean => state !== null && firstFrames(notebook, state.id).length > 0;
	if (!state?.ready || notebook?.model.readOnly || !isMissing()) return;
	await new Promise((resolve) => setTimeout(resolve, WRITE_AFTER));
	if (!isMissing()) return;
	const answer = await run.command("result");
	if (!answer.ok) return;
	for (const replace of firstFrames(notebook, state.id)) replace(answer.data as CellOutput["data"]);
}
