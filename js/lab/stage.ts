// The stage: a panel beside a notebook that shows one of its runs at full height, below the history of the conversation.
// The run is a second view of its cell's output, over which the widget mounts as over any other.

import { type RunOutput, STAGE_CLASS, STAGED, type Stage, type StageView } from "../src/run/lab.ts";
import { edit, insertCells, isPress, isWritable, outside } from "./cells.ts";
import type { CellContent, Step } from "./history.ts";
import { conversationOf, endOf, hasStarted, orderOf, readSteps } from "./history.ts";
import type { App, Cell, DocumentContext, NotebookPanel, Panel, Widget, WidgetModule } from "./jupyter.ts";
import type { Preferences } from "./preferences.ts";
import { createBar } from "./stage-bar.ts";

/** Debounce in milliseconds after a change of the notebook. */
const READ_AFTER = 100;

export interface StageOptions {
	readonly app: App;
	readonly context: DocumentContext;
	readonly lumino: WidgetModule;
	readonly preferences: Preferences;
	notebook(): NotebookPanel | undefined;
	onPin(): void;
}

export class NotebookStage implements Stage {
	key = "";
	readonly panel: Panel;
	readonly #options: StageOptions;
	readonly #bar = createBar({
		choose: (step, moment) => this.#choose(step, moment),
		pin: (on) => (on ? this.pin(this.key) : this.#follow()),
		follow: () => this.#follow(),
		next: (press) => this.#continue(press),
	});
	/** What a view of each run has reported. */
	readonly #views = new Map<string, StageView>();
	/** The view on the stage. */
	#view: StageView | null = null;
	/** The version to show once the view exists. */
	#requested: number | null | undefined;
	/** The key of the pinned run; empty to follow the newest. */
	pinned: string;
	/** The key of the run that is shown until a newer one starts; empty if none. */
	#visited = "";
	/** Whether it has never shown a run. */
	#isNew: boolean;
	#steps: Step[] = [];
	/** The runs by key, newest last. */
	#order = new Map<string, Step>();
	#cell: Cell | null = null;
	#area: Widget | null = null;
	#timer: ReturnType<typeof setTimeout> | undefined;

	/** `pinned` is null for a stage that was not open before. */
	constructor(options: StageOptions, pinned: string | null) {
		const { context, lumino } = options;
		this.#options = options;
		this.pinned = pinned ?? "";
		this.#isNew = pinned === null;
		this.panel = new lumino.Panel();
		this.panel.node.classList.add(STAGE_CLASS, "jp-LinkedOutputView");
		this.panel.onCloseRequest = () => this.panel.dispose();
		const bar = new lumino.Widget();
		bar.node.append(this.#bar.element);
		this.panel.addWidget(bar);
		const changed = (): void => {
			this.#timer ??= setTimeout(() => this.#read(), READ_AFTER);
		};
		context.model.contentChanged.connect(changed);
		this.panel.disposed.connect(() => {
			clearTimeout(this.#timer);
			context.model.contentChanged.disconnect(changed);
		});
		void context.ready.then(() => this.#read());
	}

	contains(element: Element): boolean {
		return this.panel.node.contains(outside(element));
	}

	/** Pins a run, or follows the newest if the key is empty. */
	pin(key: string): void {
		this.pinned = key;
		this.#visit("");
		this.#options.onPin();
	}

	/** Shows a run until a newer one starts, or pins it if the user does not want the stage to follow the newest. */
	show(key: string): void {
		this.#read();
		if (this.#options.preferences.stageFollows) this.#visit(key);
		else this.pin(key);
	}

	/** The index for a cell that continues from the stage, which then follows its run: below the conversation. */
	continueBelow(): number {
		const step = this.#order.get(this.key);
		const runs = step ? conversationOf(this.#steps, step) : [];
		this.pinned = "";
		this.#visit(this.key);
		this.#options.onPin();
		return endOf(this.#contents(), runs);
	}

	#visit(key: string): void {
		this.#visited = key;
		this.#read();
	}

	#follow(): void {
		const before = this.key;
		this.pin("");
		if (this.key === before) this.#view?.set({ moment: null });
		else this.#requested = null;
	}

	#contents(): CellContent[] {
		return this.#options.notebook()?.content.widgets.map(contentOf) ?? [];
	}

	setView(place: RunOutput, view: StageView): void {
		const isView = place.key === this.key && this.contains(place.element);
		if (isView) this.#view = view;
		else if (place.key === this.key && this.#view) return;
		this.#views.set(place.key, view);
		if (isView && this.#requested !== undefined) {
			const moment = this.#requested;
			this.#requested = undefined;
			view.set({ moment });
		}
		this.#draw();
	}

	#read(): void {
		this.#timer = undefined;
		const { content } = this.#options.notebook() ?? {};
		if (!content) return;
		const steps = readSteps(this.#contents());
		const current = steps.find(({ index }) => content.widgets[index] === this.#cell);
		const order = orderOf(steps, this.#order);
		const newest = [...order.values()].at(-1);
		const isBegun = newest && hasStarted(newest, this.#order);
		// When a cell is run again, its output is briefly empty.
		if (this.#cell && content.widgets.includes(this.#cell) && !current && !isBegun) return;
		this.#steps = steps;
		this.#order = order;
		if (isBegun) this.#visited = "";
		if (!order.has(this.pinned)) this.pinned = (this.pinned && current?.key) ?? "";
		const step = order.get(this.#visited) ?? order.get(this.pinned) ?? newest;
		this.#place(step?.key ?? "", step ? (content.widgets[step.index] ?? null) : null);
		this.#draw();
	}

	/** Puts a view of the cell's output on the stage. */
	#place(key: string, cell: Cell | null): void {
		const isOther = key !== this.key;
		if (cell !== this.#cell) {
			this.#area?.dispose();
			this.#area = cell?.cloneOutputArea?.() ?? null;
			this.#cell = cell;
			if (this.#area) this.panel.addWidget(this.#area);
		}
		this.key = key;
		if (!isOther) return;
		if (this.#isNew && !this.#options.preferences.stageFollows) this.pinned = key;
		this.#isNew = false;
		this.#view = null;
		window.dispatchEvent(new Event(STAGED));
	}

	#draw(): void {
		const { key } = this;
		const view = this.#view;
		const step = this.#order.get(key);
		const runs = step ? conversationOf(this.#steps, step) : [];
		const views = runs.map((run) => this.#views.get(run.key));
		const isNewest = key === [...this.#order.keys()].at(-1) && (view?.moment ?? null) === null;
		this.#bar.update({ runs, key, views, view, isPinned: key !== "" && key === this.pinned, isNewest });
	}

	#choose(step: Step, moment: number | null): void {
		if (step.key !== this.key) this.#requested = moment;
		else this.#view?.set({ moment });
		this.#visit(step.key);
	}

	/** Inserts a cell that continues from the visible version. */
	#continue(press: UIEvent): void {
		const notebook = this.#options.notebook();
		const source = this.#view?.next;
		if (!isPress(press) || !source || !notebook || !isWritable(notebook)) return;
		const isHidden = notebook.node.offsetParent === null;
		if (isHidden) this.#options.app.shell.activateById(notebook.id);
		insertCells(notebook, this.continueBelow(), [{ kind: "code", source }]);
		void edit(notebook, 1);
	}
}

function contentOf({ model: { outputs, sharedModel, executionCount = null } }: Cell): CellContent {
	const html = Array.from({ length: outputs?.length ?? 0 }, (_, at) => outputs?.get?.(at).data["text/html"]);
	return { source: sharedModel.getSource(), html: html.join("\n"), executionCount };
}
