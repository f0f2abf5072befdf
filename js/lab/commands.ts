// Commands for the palette and the context menu of cells.

import { ANSWER_KEY } from "../src/base/keys.ts";
import { type CellSource, cellSource } from "../src/run/cell-source.ts";
import type { Json } from "../src/run/events.ts";
import { COMPOSE, LIVE, STOP_ALL } from "../src/run/lab.ts";
import { edit, insertCells, isWritable, type Stages, showsRun } from "./cells.ts";
import { fixCell, fixSource } from "./fix.ts";
import type { App, Cell, NotebookModule, NotebookPanel, Palette, Tracker } from "./jupyter.ts";
import { isOff } from "./off.ts";
import type { ActiveRuns } from "./waiting.ts";

const CATEGORY = "Agent";
const CODE_CELL = ".jp-Notebook .jp-CodeCell";
const ANY_CELL = ".jp-Notebook .jp-Cell";
/** The names of runs that ask about cells, anywhere in the notebook. A new run gets the next number. */
const ABOUT = /\babout_(\d{1,6})\b/g;
/** The selected cell in command mode, but not fields in which a key is text. */
const SELECTED = ".jp-Notebook.jp-mod-commandMode:not(.jp-mod-readWrite) :focus:not(:read-write)";

interface Command {
	readonly id: string;
	readonly label: string;
	/** The cell is the active one, or that of the context menu. */
	run(panel: NotebookPanel, cell: Cell | null): unknown;
	/** Whether it applies to the notebook and the cell now; always without it. */
	suits?(panel: NotebookPanel, cell: Cell | null): boolean;
	/** It inserts cells, so it is off in a notebook that is read-only. */
	readonly inserts?: true;
	/** Its place in the context menu of cells; without it, it is only in the palette. */
	readonly rank?: number;
	/** The cells with that menu; by default those with code. */
	readonly selector?: string;
	/** Its key, and where it applies; by default while a cell is selected. */
	readonly key?: string;
	readonly keyAt?: string;
}

interface Parts {
	readonly actions: NotebookModule["NotebookActions"];
	readonly stages: Stages;
	readonly runs: ActiveRuns;
}

function commandsOf({ actions, stages, runs }: Parts): Command[] {
	const stage: Command = {
		id: "stage",
		label: "Agent: Open the Stage",
		run: (panel) => stages.show(panel, "", true),
	};
	return [
		{
			id: "ask",
			label: "Agent: Ask About This Cell",
			run: askAbout,
			suits: (_, cell) => aboutSource(cell) !== null,
			inserts: true,
			rank: 20,
			selector: ANY_CELL,
		},
		{
			id: "fix",
			label: "Agent: Fix This Cell",
			run: (panel, cell) => cell && fixCell(actions, panel, cell),
			suits: (_, cell) => fixSource(cell) !== null,
			inserts: true,
			rank: 21,
		},
		{
			id: "compose",
			label: "Agent: Ask for a Change",
			run: (panel) => frameOf(panel, stages)?.dispatchEvent(new Event(COMPOSE)),
			suits: (panel) => frameOf(panel, stages) !== null,
			key: "/",
		},
		...(stages.isPossible ? [stage] : []),
		{
			id: "answer",
			label: "Agent: Go to the Next Question",
			run: runs.goToNext,
			suits: () => runs.questions > 0,
			key: ANSWER_KEY,
			keyAt: "body",
		},
		{ id: "stop", label: "Agent: Stop All Runs", run: () => window.dispatchEvent(new Event(STOP_ALL)) },
	];
}

export function addCommands(app: App, tracker: Tracker, palette: Palette | null, parts: Parts): void {
	for (const row of commandsOf(parts)) {
		const { id, label, run, suits = () => true, inserts, rank, selector = CODE_CELL, key } = row;
		const command = `agent-nb:${id}`;
		const panel = (args?: Json): NotebookPanel | null => {
			const current = tracker.currentWidget;
			if (!current || isOff(current) || (inserts && !isWritable(current))) return null;
			return suits(current, cellOf(current, args)) ? current : null;
		};
		const cellOf = ({ content }: NotebookPanel, args?: Json): Cell | null => {
			if (!args?.menu) return content.activeCell;
			const node = app.contextMenuHitTest?.(({ classList }) => classList.contains("jp-Cell"));
			return content.widgets.find((cell) => cell.node === node) ?? null;
		};
		const isVisible = (): boolean => !tracker.currentWidget || !isOff(tracker.currentWidget);
		const execute = (args?: Json): unknown => {
			const current = panel(args);
			return current && run(current, cellOf(current, args));
		};
		const isEnabled = (args?: Json): boolean => panel(args) !== null;
		app.commands.addCommand(command, { label, isEnabled, isVisible, execute });
		palette?.addItem({ command, category: CATEGORY });
		if (rank) app.contextMenu?.addItem({ command, selector, rank, args: { menu: true } });
		if (key) app.commands.addKeyBinding({ command, keys: [key], selector: row.keyAt ?? SELECTED });
	}
}

/** The frame of the run that the active cell shows, in the cell or on the stage. */
function frameOf({ content: { activeCell }, context }: NotebookPanel, stages: Stages): Element | null {
	const stage = stages.get(context);
	const staged = activeCell && stage && showsRun(activeCell, stage.key) ? stage : null;
	const isShown = (view: Element) => (staged ? staged.contains(view) : activeCell?.node.contains(view));
	const view = [...document.querySelectorAll(`[${LIVE}]`)].find(isShown);
	return view?.shadowRoot?.querySelector(".anb-frame") ?? null;
}

/** The cell that asks about another one; null if that has no valid id. */
function aboutSource(cell: Cell | null, count = 1): CellSource | null {
	return cell && cellSource("ask", { count, cell: cell.model.sharedModel.getId() });
}

/** Inserts a prompt below a cell that refers to it, and puts the cursor above the reference. */
async function askAbout(panel: NotebookPanel, cell: Cell | null): Promise<void> {
	const { content } = panel;
	let last = 0;
	for (const { model } of content.widgets)
		for (const [, number] of model.sharedModel.getSource().matchAll(ABOUT))
			last = Math.max(last, Number(number));
	const source = aboutSource(cell, last + 1);
	if (!cell || !source) return;
	const id = insertCells(panel, content.widgets.indexOf(cell) + 1, [{ kind: "code", source }]);
	if (id !== null) await edit(panel, 1);
}
