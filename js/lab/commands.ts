// Commands for the palette and the context menu of cells.

import { cellSource } from "../src/cell-source.ts";
import { edit, insertCells, isWritable, type Stages, showsRun } from "./cells.ts";
import { fixCell, fixSource } from "./fix.ts";
import { COMPOSE, LIVE, STOP_ALL } from "./interface.ts";
import type { App, NotebookModule, NotebookPanel, Palette, Tracker } from "./jupyter.ts";

const CATEGORY = "Agent";
const CELL = ".jp-Notebook .jp-CodeCell";
/** A cell in command mode, and nothing in which a key is text. */
const SELECTED = ".jp-Notebook.jp-mod-commandMode:not(.jp-mod-readWrite) :focus:not(:read-write)";

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
	const compose = add(
		"compose",
		"Agent: Ask for a Change",
		(panel) => frameOf(panel, stages)?.dispatchEvent(new Event(COMPOSE)),
		(panel) => frameOf(panel, stages) !== null,
	);
	app.commands.addKeyBinding({ command: compose, keys: ["/"], selector: SELECTED });
	if (stages.isPossible) add("stage", "Agent: Open the Stage", (panel) => stages.show(panel, "", true));
	add("stop", "Agent: Stop All Runs", () => window.dispatchEvent(new Event(STOP_ALL)));
}

/** The frame of the run that the active cell shows, in the cell or on the stage. */
function frameOf({ content: { activeCell }, context }: NotebookPanel, stages: Stages): Element | null {
	const stage = stages.get(context);
	const staged = activeCell && stage && showsRun(activeCell, stage.key) ? stage : null;
	const isShown = (view: Element) => (staged ? staged.contains(view) : activeCell?.node.contains(view));
	const view = [...document.querySelectorAll(`[${LIVE}]`)].find(isShown);
	return view?.shadowRoot?.querySelector(".anb-frame") ?? null;
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
