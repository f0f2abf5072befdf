// The subset we use of JupyterLab, as small interfaces: its packages would add minutes to the installation. At run time
// its modules come from the scope that it shares with prebuilt extensions.

import type { Signal } from "../src/base/windows.ts";
import type { Json } from "../src/run/events.ts";

export interface Widget {
	id: string;
	readonly node: HTMLElement;
	readonly title: { label: string; caption: string; closable: boolean };
	readonly disposed: Signal<unknown>;
	setHidden(hidden: boolean): void;
	dispose(): void;
}

export type Panel = Widget & { addWidget(widget: Widget): void; onCloseRequest(): void };

export interface WidgetModule {
	readonly Widget: new () => Widget;
	readonly Panel: new () => Panel;
}

export interface Undoable {
	/** The cell's undo manager, of Yjs; null in a notebook with one for all cells. */
	readonly undoManager?: { stopCapturing(): void } | null;
}

export interface SharedCell extends Undoable {
	getId(): string;
	getSource(): string;
	setSource(source: string): void;
	setMetadata(name: string, value: unknown): void;
	deleteMetadata(name: string): void;
	transact(change: () => void): void;
	toJSON(): { metadata?: Record<string, unknown> };
}

export interface SharedNotebook extends Undoable {
	insertCells(index: number, cells: readonly object[]): unknown;
	deleteCell(index: number): void;
}

export interface Cell {
	readonly node: HTMLElement;
	readonly model: {
		readonly type: string;
		readonly sharedModel: SharedCell;
		readonly outputs?: {
			readonly length?: number;
			get?(index: number): { readonly data: Readonly<Record<string, unknown>> };
			toJSON(): unknown;
			readonly changed?: Signal<unknown>;
		};
		readonly executionCount?: number | null;
		/** Whether a code cell has been edited since it ran. */
		readonly isDirty?: boolean;
	};
	/** A second view of the outputs of a code cell. */
	cloneOutputArea?(): Widget;
	/** Resolves when the cell has its editor. */
	readonly ready: Promise<void>;
	readonly editor?: {
		focus(): void;
		setCursorPosition(position: { line: number; column: number }): void;
	} | null;
}

export interface Notebook {
	readonly widgets: readonly Cell[];
	readonly activeCell: Cell | null;
	activeCellIndex: number;
	mode: "command" | "edit";
	deselectAll(): void;
	readonly model: {
		readonly readOnly: boolean;
		readonly dirty: boolean;
		readonly sharedModel: SharedNotebook;
	} | null;
	scrollToItem(index: number, align?: "center"): Promise<void>;
}

/** An open notebook, which may have several panels. */
export interface DocumentContext {
	readonly path: string;
	readonly model: {
		readonly contentChanged: Signal<unknown>;
		readonly metadataChanged: Signal<unknown>;
		getMetadata(name: string): unknown;
	};
	readonly pathChanged: Signal<unknown>;
	readonly disposed: Signal<unknown>;
	readonly ready: Promise<void>;
}

export interface NotebookKernel {
	interrupt(): Promise<void>;
	/** `done` is rejected if the kernel ends first. */
	requestExecute(request: { code: string; silent: boolean; stop_on_error: boolean }): {
		readonly done: Promise<{ readonly content: { status: string; ename?: string; evalue?: string } }>;
	};
}

export interface NotebookPanel {
	readonly id: string;
	readonly node: HTMLElement;
	readonly content: Notebook;
	readonly context: DocumentContext;
	readonly sessionContext: {
		readonly session?: { readonly kernel?: NotebookKernel | null } | null;
	};
}

export interface Tracker {
	readonly currentWidget: NotebookPanel | null;
	readonly widgetAdded: Signal<NotebookPanel>;
	find(matches: (panel: NotebookPanel) => boolean): NotebookPanel | undefined;
}

export interface Contents {
	/** A file with its text, or a folder with a list of what is in it. */
	get(path: string): Promise<{ readonly content: unknown }>;
}

export interface App {
	readonly name: string;
	/** Resolves when the previous layout is restored. */
	readonly restored: Promise<unknown>;
	readonly serviceManager: { readonly contents: Contents };
	readonly shell: {
		add(widget: Widget, area: "main", options: { mode: string; ref: string; activate: boolean }): void;
		activateById(id: string): void;
	};
	readonly commands: {
		addCommand(
			id: string,
			command: {
				label: string;
				isEnabled?: (args?: Json) => boolean;
				isVisible?: () => boolean;
				execute(args?: Json): unknown;
			},
		): unknown;
		addKeyBinding(binding: { command: string; keys: string[]; selector: string }): unknown;
		isEnabled(id: string): boolean;
		execute(id: string): Promise<unknown>;
	};
	readonly contextMenu?: {
		addItem(item: { command: string; selector: string; rank: number; args: Json }): unknown;
	};
	/** The first element from the one where the context menu opened up to the page, that passes the test. */
	contextMenuHitTest?(test: (node: HTMLElement) => boolean): HTMLElement | undefined;
}

export interface Palette {
	addItem(item: { command: string; category: string }): unknown;
}

export interface NotebookModule {
	readonly INotebookTracker: unknown;
	readonly NotebookActions: {
		/** JupyterLab 4.0 lacks it. */
		runCells?(notebook: Notebook, cells: readonly Cell[], session: unknown): Promise<boolean>;
		/** Runs the selected cells, or the active one. */
		run(notebook: Notebook, session: unknown): Promise<boolean>;
		readonly executed: Signal<{ notebook: Notebook; cell: Cell }>;
		readonly executionScheduled: Signal<{ notebook: Notebook; cell: Cell }>;
	};
}

/** The modules that JupyterLab shares, by package and version. */
type Scope = Record<string, Record<string, { get(): Promise<() => unknown> }>>;
let scope: Scope = {};

export function setScope(shared: Scope): void {
	scope = shared;
}

/** The newest version of a shared package. */
export async function shared<T>(name: string): Promise<T> {
	const versions = scope[name] ?? {};
	const newest = Object.keys(versions).sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
	const version = versions[newest.at(-1) ?? ""];
	if (!version) throw new Error(`JupyterLab does not share ${name}`);
	return (await version.get())() as T;
}
