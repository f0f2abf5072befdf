// The active runs of all kernels. The status bar counts them, because JupyterLab shows their kernels as idle, and their open
// questions. Its button and a key go to the next waiting run, in any open notebook.

import { h, setText } from "../src/base/dom.ts";
import { plural, sumOf } from "../src/base/format.ts";
import type { Lab, WaitingRun } from "../src/run/lab.ts";
import { type Stages, showsRun } from "./cells.ts";
import type { App, NotebookPanel, Tracker, WidgetModule } from "./jupyter.ts";

export interface StatusBar {
	registerStatusItem(
		id: string,
		item: { item: object; align: "left"; rank: number; priority: number; isActive(): boolean },
	): unknown;
}

export interface ActiveRuns {
	readonly setRuns: Lab["setRuns"];
	/** The number of open questions. */
	readonly questions: number;
	/** Goes to the waiting run after the one whose card has the focus. */
	goToNext(): Promise<void>;
	addTo(bar: StatusBar, lumino: WidgetModule): void;
}

export function createActiveRuns(app: App, tracker: Tracker, stages: Stages): ActiveRuns {
	const kernels = new Map<object, { count: number; waiting: readonly WaitingRun[] }>();
	const total = () => [...kernels.values()].reduce((sum, { count }) => sum + count, 0);
	const waiting = () => [...kernels.values()].flatMap((kernel) => kernel.waiting);
	const questions = () => sumOf(waiting(), (run) => run.questions);
	let draw = (): void => {};

	async function goToNext(): Promise<void> {
		const runs = waiting();
		const next = runs[(runs.findIndex((run) => run.hasFocus()) + 1) % runs.length];
		if (!next) return;
		await reveal(next);
		next.answer();
	}

	async function reveal({ key, notebook }: WaitingRun): Promise<void> {
		const panel = tracker.find(({ context }) => context === notebook);
		if (!panel) return;
		if (panel.node.offsetParent === null) app.shell.activateById(panel.id);
		if (stages.get(panel.context)?.key === key) stages.show(panel, "", true);
		await drawCell(panel, key);
		// JupyterLab moves the focus to what it activates a moment later.
		await new Promise((resolve) => setTimeout(resolve, 100));
	}

	return {
		setRuns(kernel, count, waiting) {
			kernels.set(kernel, { count, waiting });
			if (count === 0) kernels.delete(kernel);
			draw();
		},
		get questions() {
			return questions();
		},
		goToNext,
		addTo(bar, { Widget }) {
			const item = new Widget();
			const button = h("button", { onclick: goToNext });
			item.node.classList.add("jp-StatusBar-TextItem", "anb-runs");
			item.node.append(button);
			// Right of the kernel's state. Items of priority 0 are hidden in narrow windows.
			const place = { align: "left", rank: 2, priority: 1 } as const;
			bar.registerStatusItem("agent-nb:runs", { item, ...place, isActive: () => total() > 0 });
			draw = () => {
				setText(button, textOf(total(), questions()));
				button.disabled = questions() === 0;
				item.setHidden(total() === 0);
			};
		},
	};
}

/** Scrolls to the cell of a run if it is far from the screen, where JupyterLab leaves cells out. */
async function drawCell({ content }: NotebookPanel, key: string): Promise<void> {
	const index = content.widgets.findIndex((cell) => showsRun(cell, key));
	const isLeftOut = content.widgets[index]?.node.offsetParent === null;
	if (isLeftOut) await content.scrollToItem(index).catch(() => undefined);
}

function textOf(active: number, questions: number): string {
	if (questions)
		return `${plural(questions, "agent question")} ${questions === 1 ? "waits" : "wait"} for you`;
	return plural(active, "agent run");
}
