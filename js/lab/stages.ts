// The stages of all notebooks, one each. A stage closes with its notebook and reopens with it.

import { load, store } from "../src/base/storage.ts";
import { STAGE_CLASS, STAGED } from "../src/run/lab.ts";
import type { Stages } from "./cells.ts";
import type { App, DocumentContext, NotebookPanel, Panel, Tracker, WidgetModule } from "./jupyter.ts";
import type { Preferences } from "./preferences.ts";
import { NotebookStage } from "./stage.ts";

/** In a narrower window, the stage opens below the notebook. */
const NARROW = 700;
const STORE = "agent_nb.stages";

export function createStages(
	app: App,
	tracker: Tracker,
	lumino: WidgetModule,
	preferences: Preferences,
): Stages {
	const isPossible = app.name !== "Jupyter Notebook";
	const stages = new Map<object, NotebookStage>();
	/** Notebooks whose stage the user has closed. */
	const closed = new WeakSet<DocumentContext>();
	let count = 0;

	function open({ context, id, node }: NotebookPanel): NotebookStage {
		const existing = stages.get(context);
		if (existing) return existing;
		const notebook = () => tracker.find((panel) => panel.context === context);
		const onPin = (): void => storePinned(context.path, stage.pinned);
		const options = { app, context, lumino, preferences, notebook, onPin };
		const stage = new NotebookStage(options, stored()[context.path] ?? null);
		stages.set(context, stage);
		stage.panel.id = `${STAGE_CLASS}-${++count}`;
		closed.delete(context);
		nameAfter(context, stage.panel, onPin);
		context.disposed.connect(() => {
			stages.delete(context);
			stage.panel.dispose();
		});
		stage.panel.disposed.connect(() => {
			if (!stages.delete(context)) return;
			closed.add(context);
			storePinned(context.path, null);
			window.dispatchEvent(new Event(STAGED));
		});
		const mode = node.clientWidth < NARROW ? "split-bottom" : "split-right";
		app.shell.add(stage.panel, "main", { mode, ref: id, activate: false });
		return stage;
	}

	tracker.widgetAdded.connect(async (_, panel) => {
		await Promise.all([app.restored, panel.context.ready]);
		if (isPossible && panel.context.path in stored()) open(panel);
	});
	return {
		isPossible,
		get: (context) => (context && stages.get(context)) ?? null,
		notebookOf: (element) => tracker.find(({ context }) => stages.get(context)?.contains(element) ?? false),
		show(notebook, key, isAsked) {
			if (!isPossible || (!isAsked && closed.has(notebook.context))) return false;
			const stage = open(notebook);
			if (key && isAsked) stage.show(key);
			if (isAsked) app.shell.activateById(stage.panel.id);
			return true;
		},
	};
}

/** Keeps the title of a stage in sync with its notebook's name. */
function nameAfter(context: DocumentContext, { title }: Panel, onName: () => void): void {
	const name = (): void => {
		const label = `Stage: ${context.path.split("/").at(-1)}`;
		Object.assign(title, { label, caption: context.path, closable: true });
		onName();
	};
	context.pathChanged.connect(name);
	name();
}

/** The notebooks with a stage, by path, each with its pinned run. */
function stored(): Record<string, string> {
	return (load("localStorage", STORE) ?? {}) as Record<string, string>;
}

/** Stores the pinned run of a stage; null if the stage is closed. */
function storePinned(path: string, pinned: string | null): void {
	const { [path]: _, ...others } = stored();
	store("localStorage", STORE, pinned === null ? others : { ...others, [path]: pinned });
}
