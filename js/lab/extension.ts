// A prebuilt extension of JupyterLab, Notebook 7 and JupyterLite. They load it as a module federation container: an
// object on the window with `init` and `get`. If another version lacks an API, the notebook stays as it is.

import { createSheet } from "../src/host/styles.ts";
import { LAB } from "../src/run/lab.ts";
import { createLab } from "./cells.ts";
import { addCommands } from "./commands.ts";
import { addFixButtons } from "./fix.ts";
import type { App, NotebookModule, Palette, Tracker, WidgetModule } from "./jupyter.ts";
import { setScope, shared } from "./jupyter.ts";
import styles from "./lab.css";
import { addLoadButtons } from "./load.ts";
import { createNotebookCells } from "./notebook.ts";
import { markOff } from "./off.ts";
import { CELLS, createPreferences, type SettingRegistry } from "./preferences.ts";
import { addProse, type EditorExtensions } from "./prose.ts";
import { createStages } from "./stages.ts";
import { createActiveRuns, type StatusBar } from "./waiting.ts";

const NAME = "agent-nb";

async function plugins(): Promise<object[]> {
	const { INotebookTracker, NotebookActions } = await shared<NotebookModule>("@jupyterlab/notebook");
	const { ICommandPalette } = await shared<{ ICommandPalette: unknown }>("@jupyterlab/apputils");
	const { IEditorExtensionRegistry } = await shared<{ IEditorExtensionRegistry: unknown }>(
		"@jupyterlab/codemirror",
	);
	const { IStatusBar } = await shared<{ IStatusBar: unknown }>("@jupyterlab/statusbar");
	const { ISettingRegistry } = await shared<{ ISettingRegistry: unknown }>("@jupyterlab/settingregistry");
	const lumino = await shared<WidgetModule>("@lumino/widgets");
	const cells = {
		id: CELLS,
		autoStart: true,
		requires: [INotebookTracker],
		optional: [ICommandPalette, IStatusBar, ISettingRegistry],
		activate(
			app: App,
			tracker: Tracker,
			palette: Palette | null,
			bar: StatusBar | null,
			registry: SettingRegistry | null,
		): void {
			const stages = createStages(app, tracker, lumino, createPreferences(registry));
			const runs = createActiveRuns(app, tracker, stages);
			if (bar) runs.addTo(bar, lumino);
			const cells = createNotebookCells(tracker, NotebookActions);
			const value = Object.freeze({
				...createLab(app, tracker, NotebookActions, stages),
				...cells,
				setRuns: runs.setRuns,
			});
			Object.defineProperty(window, LAB, { value });
			markOff(app, tracker);
			addCommands(app, tracker, palette, { actions: NotebookActions, stages, runs });
			addFixButtons(tracker, NotebookActions);
			addLoadButtons(tracker, NotebookActions);
			document.adoptedStyleSheets.push(createSheet(styles));
		},
	};
	const prose = {
		id: `${NAME}:prose`,
		autoStart: true,
		requires: [IEditorExtensionRegistry],
		activate: (_app: App, registry: EditorExtensions): Promise<void> => addProse(registry),
	};
	return [cells, prose];
}

const page = window as unknown as { _JUPYTERLAB?: Record<string, object> };
page._JUPYTERLAB ??= {};
page._JUPYTERLAB[NAME] = {
	init: setScope,
	get: async () => {
		const loaded = await plugins().catch((error: unknown) => {
			console.warn("agent_nb: its JupyterLab extension does not fit this version.", error);
			return [];
		});
		return () => ({ __esModule: true, default: loaded });
	},
};
