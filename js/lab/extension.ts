// A prebuilt extension of JupyterLab, Notebook 7 and JupyterLite. They load it as a module federation container: an
// object on the window with `init` and `get`. Whatever is missing in another version leaves the notebook as it is.

import { createLab } from "./cells.ts";
import { addCommands } from "./commands.ts";
import { addFixButtons, FIX_STYLE } from "./fix.ts";
import { LAB } from "./interface.ts";
import { type App, type NotebookModule, type Palette, setScope, shared, type Tracker } from "./jupyter.ts";
import { addProse, type EditorExtensions } from "./prose.ts";
import { createStatus, type StatusBar, type WidgetModule } from "./status.ts";

const NAME = "agent-nb";
/** Notebook Intelligence shows buttons over the right end of an output, where ours are: they go to the middle. */
const ROOM =
	".jp-Cell-outputArea:has([data-anb-run]) > .nbi-cell-output-toolbar { right: 50%; translate: 50% }";

async function plugins(): Promise<object[]> {
	const { INotebookTracker, NotebookActions } = await shared<NotebookModule>("@jupyterlab/notebook");
	const { ICommandPalette } = await shared<{ ICommandPalette: unknown }>("@jupyterlab/apputils");
	const { IEditorExtensionRegistry } = await shared<{ IEditorExtensionRegistry: unknown }>(
		"@jupyterlab/codemirror",
	);
	const { IStatusBar } = await shared<{ IStatusBar: unknown }>("@jupyterlab/statusbar");
	const lumino = await shared<WidgetModule>("@lumino/widgets");
	const cells = {
		id: `${NAME}:cells`,
		autoStart: true,
		requires: [INotebookTracker],
		optional: [ICommandPalette, IStatusBar],
		activate(app: App, tracker: Tracker, palette: Palette | null, bar: StatusBar | null): void {
			const setRuns = bar ? createStatus(bar, lumino) : () => {};
			const value = Object.freeze({ ...createLab(app, tracker, NotebookActions), setRuns });
			Object.defineProperty(window, LAB, { value });
			addCommands(app, tracker, palette, NotebookActions);
			addFixButtons(tracker, NotebookActions);
			const sheet = new CSSStyleSheet();
			sheet.replaceSync(ROOM + FIX_STYLE);
			document.adoptedStyleSheets.push(sheet);
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
		const found = await plugins().catch((error: unknown) => {
			console.warn("agent_nb: its JupyterLab extension does not fit this version.", error);
			return [];
		});
		return () => ({ __esModule: true, default: found });
	},
};
