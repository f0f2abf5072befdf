// A button below a prompt that was run in a kernel without agent_nb: it loads agent_nb and runs the prompt again.

import { h } from "../src/base/dom.ts";
import { cellSource } from "../src/run/cell-source.ts";
import { type Actions, addButtonBelow, mayChange } from "./below.ts";
import { outputsOf, runCells } from "./cells.ts";
import type { Cell, NotebookPanel, Tracker } from "./jupyter.ts";

/** What IPython prints to stderr. */
const NOT_FOUND = "UsageError: Cell magic `%%agent` not found.";

export function addLoadButtons(tracker: Tracker, actions: Actions): void {
	addButtonBelow(tracker, actions, {
		name: "anb-load",
		label: "Load agent_nb and run",
		suits: needsLoad,
		press: (cell, panel, button) => loadAndRun(actions, panel, cell, button),
	});
}

function needsLoad(cell: Cell): boolean {
	const isMissing = outputsOf(cell).some(
		({ name, text }) => name === "stderr" && String(text).startsWith(NOT_FOUND),
	);
	return isMissing && /^\s*%%agent\b/.test(cell.model.sharedModel.getSource());
}

async function loadAndRun(
	actions: Actions,
	panel: NotebookPanel,
	cell: Cell,
	button: HTMLButtonElement,
): Promise<void> {
	const kernel = panel.sessionContext.session?.kernel;
	const code = cellSource("setup", { rename: "agent" });
	const source = cell.model.sharedModel.getSource();
	if (!kernel || !code || !needsLoad(cell)) return;
	const note = h("span", { role: "status" }, "Loading…");
	button.nextSibling?.remove();
	button.after(note);
	button.disabled = true;
	const request = kernel.requestExecute({ code, silent: true, stop_on_error: false });
	const { status, ename, evalue } = (await request.done.catch(() => null))?.content ?? {};
	button.disabled = false;
	const remedy = "Run `%pip install agent-nb`, then press again.";
	note.textContent = status === "error" ? `${ename}: ${evalue}. ${remedy}` : "";
	// In a shared notebook somebody may have changed or deleted the cell meanwhile.
	const isSame = panel.content.widgets.includes(cell) && cell.model.sharedModel.getSource() === source;
	if (status === "ok" && isSame && mayChange(panel)) runCells(actions, panel, [cell]);
}
