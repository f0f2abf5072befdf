// Commands for the palette and the context menu of cells.

import { cellSource } from "../src/cell-source.ts";
import { edit, insertCells, isWritable, type Stages } from "./cells.ts";
import { fixCell, fixSource } from "./fix.ts";
import { STOP_ALL } from "./interface.ts";
import type { App, NotebookModule, NotebookPanel, Palette, Tracker } from "./jupyter.ts";

const CATEGORY = "Agent";
const CELL = ".jp-Notebook .jp-CodeCell";

export function addCommands(
	app: App,
	tracker: Tracker,
	palette: Palette | null,
	actions: NotebookModule["NotebookActions"],
	stages: Stages,
): void {
	function add(
		id: string,
		label: string,
		run: (panel: NotebookPanel) => unknown,
		suits: (panel: NotebookPanel) => boolean = () => true,
	): string {
		const command = `agent-nb:${id}`;
		const isEnabled = (): boolean => tracker.currentWidget !== null && suits(tracker.currentWidget);
		const execute = () => isEnabled() && tracker.currentWidget && run(tracker.currentWidget);
		app.commands.addCommand(command, { label, isEnabled, execute });
		palette?.addItem({ command, category: CATEGORY });
		return command;
	}
	const ask = add("ask", "Agent: Ask About This Cell", askAbout, isWritable);
	app.contextMenu?.addItem({ command: ask, selector: CELL, rank: 20 });
	const fix = add(
		"fix",
		"Agent: Fix This Cell",
		(panel) => panel.content.activeCell && fixCell(actions, panel, panel.content.activeCell),
		(panel) => isWritable(panel) && fixSource(panel.content.activeCell) !== null,
	);
	app.contextMenu?.addItem({ command: fix, selector: CELL, rank: 21 });
	if (stages.isPossible) add("stage", "Agent: Open the Stage", (panel) => stages.show(panel, "", true));
	add("stop", "Agent: Stop All Runs", () => window.dispatchEvent(new Event(STOP_ALL)));
}

/** Inserts a prompt that quotes the active cell, and puts the cursor above the quotation. */
async function askAbout(panel: NotebookPanel): Promise<void> {
	const { content } = panel;
	const quotation = content.activeCell?.model.sharedModel.getSource().trim() ?? "";
	const source = cellSource("ask", { quotation });
	if (!source) return;
	insertCells(panel, content.activeCellIndex + 1, [{ kind: "code", source }]);
	await edit(panel, 1);
}
