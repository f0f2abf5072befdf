import { afterEach, describe, expect, test, vi } from "vitest";
import { createLab } from "../lab/cells.ts";
import type { App, Cell, NotebookPanel, Tracker, WidgetModule } from "../lab/jupyter.ts";
import { createStages } from "../lab/stages.ts";
import { cellSource } from "../src/run/cell-source.ts";
import { type NotebookContext, placeCell, placeCells } from "../src/run/cells.ts";
import { type CellText, LAB, VERSION } from "../src/run/lab.ts";
import type { Context } from "../src/view/context.ts";
import { createCellButton } from "../src/view/shared/cell-button.ts";

const EXPORT = cellSource("export", { magic: "agent", name: "hero" })!;
const SHOW = cellSource("code", { code: "hero_2" })!;
const KEY = "k";

interface NewCell {
	readonly cell_type: string;
	readonly source: string;
}

/** A cell of JupyterLab, as far as the extension uses it. */
function cellOf(id: string, cell: NewCell, html = ""): Cell {
	const node = document.createElement("div");
	node.innerHTML = html;
	const outputs = { toJSON: () => [{ data: { "text/html": html } }] };
	let { source } = cell;
	const setSource = (text: string): void => {
		source = text;
	};
	const none = { setMetadata() {}, deleteMetadata() {}, transact() {}, toJSON: () => ({}) };
	const sharedModel = { ...none, getId: () => id, getSource: () => source, setSource };
	return { node, ready: Promise.resolve(), model: { type: cell.cell_type, sharedModel, outputs } };
}

/** A notebook of JupyterLab with one output, the button inside its shadow root, and our extension. */
function stage({ readOnly = false, version = VERSION, isOld = false } = {}) {
	const html = `<div data-anb-run="${KEY}"></div>`;
	const widgets = [cellOf("0", { cell_type: "code", source: "%%agent" }, html)];
	const node = document.createElement("div");
	node.append(widgets[0]!.node);
	document.body.replaceChildren(node);
	const root = node.querySelector("[data-anb-run]")!.attachShadow({ mode: "open" });
	const button = root.appendChild(document.createElement("button"));
	const insertCells = vi.fn((index: number, cells: readonly NewCell[]) => {
		const added = cells.map((cell, at) => cellOf(`${widgets.length + at}`, cell));
		widgets.splice(index, 0, ...added);
	});
	const content = {
		widgets,
		activeCellIndex: 0,
		get activeCell() {
			return widgets[content.activeCellIndex] ?? null;
		},
		mode: "command",
		model: { readOnly, dirty: true, sharedModel: { insertCells } },
		scrollToItem: () => Promise.resolve(),
		deselectAll() {},
	};
	const panel = {
		node,
		content,
		context: { path: "a.ipynb" },
		sessionContext: {},
	} as unknown as NotebookPanel;
	const tracker: Tracker = {
		currentWidget: panel,
		find: (matches) => (matches(panel) ? panel : undefined),
		widgetAdded: { connect() {}, disconnect() {} },
	};
	const runCells = vi.fn((_notebook: unknown, _cells: readonly Cell[]) => Promise.resolve(true));
	const ran: number[] = [];
	const run = () => Promise.resolve(ran.push(content.activeCellIndex) > 0);
	const commands = { hasCommand: () => true, isEnabled: () => true, execute: vi.fn() };
	const app = { name: "JupyterLab", commands } as unknown as App;
	const stages = createStages(app, tracker, {} as WidgetModule, { stageFollows: true });
	const lab = { ...createLab(app, tracker, isOld ? { run } : { run, runCells }, stages), version };
	vi.stubGlobal(LAB as unknown as string, version ? lab : undefined);
	const notebook: NotebookContext = { model: { readOnly, sharedModel: { cells: [] } } };
	const sources = () => widgets.map((cell) => cell.model.sharedModel.getSource());
	const saved = commands.execute.mock.calls;
	return {
		run: { key: KEY, notebook, greeted: true },
		button,
		insertCells,
		runCells,
		ran,
		sources,
		lab,
		saved,
	};
}

/** A click as the user makes it, or one that a script made, or kept. */
function click(button: Element, { isTrusted = true, age = 0 } = {}): MouseEvent {
	const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now() - age);
	const made = new MouseEvent("click");
	clock.mockRestore();
	return Object.defineProperties(made, { isTrusted: { value: isTrusted }, currentTarget: { value: button } });
}

function clipboard(write: () => Promise<void> = () => Promise.resolve()) {
	const writeText = vi.fn(write);
	vi.stubGlobal("navigator", { clipboard: { writeText } });
	return writeText;
}

afterEach(() => vi.unstubAllGlobals());

describe("a cell below an output", () => {
	test("is inserted by the extension, below those inserted before", async () => {
		const { run, button, sources } = stage();
		const written = clipboard();
		expect(await placeCell(run, click(button), EXPORT)).toBe("inserted");
		expect(await placeCell(run, click(button), SHOW)).toBe("inserted");
		expect(sources()).toEqual(["%%agent", EXPORT, "hero_2"]);
		expect(written).not.toHaveBeenCalled();
	});

	test("is not inserted by what only looks like a press", async () => {
		const { run, button, insertCells, runCells } = stage();
		const written = clipboard();
		const like = { isTrusted: true, currentTarget: button, timeStamp: performance.now() };
		const old = Object.defineProperty(click(button, { age: 60_000 }), "timeStamp", {
			value: performance.now(),
		});
		for (const press of [like, Object.assign(Object.create({}), like), old])
			expect(await placeCell(run, press as MouseEvent, EXPORT)).toBe("copied");
		expect(written).toHaveBeenCalledTimes(3);
		expect(insertCells).not.toHaveBeenCalled();
		expect(runCells).not.toHaveBeenCalled();
	});

	test("is one of several, in order, and none of them if one cannot be read", async () => {
		const { run, button, insertCells } = stage();
		const cells = [
			{ kind: "markdown", source: "I look. 👩‍💻" },
			{
				kind: "code",
				source: "df",
				outputs: [
					{ output_type: "stream", name: "stdout", text: "1\n" },
					{ output_type: "display_data", data: { "text/html": "<b>", "application/javascript": "x" } },
					{ output_type: "display_data", data: { "image/svg+xml": "<svg>", "image/png": "AA==" } },
					{ output_type: "error", ename: "E" },
					null,
				],
			},
		] as unknown as CellText[];
		expect(await placeCells(run, click(button, { isTrusted: false }), cells, button)).toBe("failed");
		expect(await placeCells(run, click(button), [{ kind: "code", source: "a\u202e" as never }], button)).toBe(
			"failed",
		);
		expect(insertCells).not.toHaveBeenCalled();
		expect(await placeCells(run, click(button), cells, button)).toBe("inserted");
		expect(insertCells).toHaveBeenCalledExactlyOnceWith(1, [
			{ cell_type: "markdown", source: "I look. 👩‍💻", metadata: {} },
			{
				cell_type: "code",
				source: "df",
				metadata: {},
				outputs: [
					{ output_type: "stream", name: "stdout", text: "1\n" },
					{ output_type: "display_data", data: { "text/html": "<b>" }, metadata: {} },
					{ output_type: "display_data", data: { "image/png": "AA==" }, metadata: {} },
				],
			},
		]);
	});

	test("is inserted from a view beside the notebook, too", async () => {
		const { run, sources } = stage();
		const button = document.body.appendChild(document.createElement("button"));
		expect(await placeCell(run, click(button), EXPORT)).toBe("inserted");
		expect(sources()).toEqual(["%%agent", EXPORT]);
	});

	test("is copied without the extension, with another version of it, in a notebook that is read only, and for an output of none", async () => {
		for (const [options, key] of [
			[{ version: 0 }, KEY],
			[{ version: VERSION + 1 }, KEY],
			[{ readOnly: true }, KEY],
			[{}, "other"],
		] as const) {
			const { run, insertCells } = stage(options);
			const button = document.body.appendChild(document.createElement("button"));
			const written = clipboard();
			expect(await placeCell({ ...run, key }, click(button), EXPORT)).toBe("copied");
			expect(written).toHaveBeenCalledExactlyOnceWith(EXPORT);
			expect(insertCells).not.toHaveBeenCalled();
		}
		const { run, button } = stage({ version: 0 });
		clipboard(() => Promise.reject(new Error("forbidden")));
		expect(await placeCell(run, click(button), EXPORT)).toBe("failed");
	});

	test("needs a fresh press of the user", async () => {
		const { run, button, insertCells } = stage();
		const written = clipboard();
		expect(await placeCell(run, click(button, { isTrusted: false }), EXPORT)).toBe("failed");
		expect(written).not.toHaveBeenCalled();
		expect(await placeCell(run, click(button, { age: 60_000 }), EXPORT)).toBe("copied");
		expect(insertCells).not.toHaveBeenCalled();
	});

	test("is run in JupyterLab 4.0, which has no `runCells`, too", async () => {
		const { run, button, ran } = stage({ isOld: true });
		expect(await placeCell(run, click(button), SHOW, true)).toBe("run");
		expect(ran).toEqual([1]);
	});

	test("is run by a press, alone, and only for a run that a kernel knows", async () => {
		const { run, button, runCells } = stage();
		expect(await placeCell({ ...run, greeted: false }, click(button), EXPORT, true)).toBe("inserted");
		expect(runCells).not.toHaveBeenCalled();
		expect(await placeCell(run, click(button), SHOW, true)).toBe("run");
		const ran = runCells.mock.calls.map(([, cells]) =>
			cells.map((cell) => cell.model.sharedModel.getSource()),
		);
		expect(ran).toEqual([["hero_2"]]);
	});

	test("is saved with the notebook while the output has the focus, unless the notebook is read-only", () => {
		const place = ({ button }: ReturnType<typeof stage>) => ({ element: button, key: KEY });
		const readOnly = stage({ readOnly: true });
		readOnly.button.focus();
		expect(readOnly.lab.save(place(readOnly))).toBe(false);
		const open = stage();
		expect(open.lab.save(place(open))).toBe(false);
		open.button.focus();
		expect(open.lab.save(place(open))).toBe(true);
		expect([...readOnly.saved, ...open.saved]).toEqual([["docmanager:save"]]);
	});

	test("has a button that shows the text and ignores clicks by a script", async () => {
		const { run, insertCells } = stage();
		const context = { run, signal: new AbortController().signal, notify: vi.fn() };
		const view = createCellButton(context as unknown as Context, "Export");
		document.querySelector("[data-anb-run]")!.shadowRoot!.append(view.element);
		expect(view.element.hidden).toBe(true);
		view.update(EXPORT);
		expect(view.element.hidden).toBe(false);
		expect(view.element.textContent).toBe(`Export${EXPORT}`);
		view.element.querySelector("button")!.click();
		await new Promise(requestAnimationFrame);
		expect(insertCells).not.toHaveBeenCalled();
		expect(context.notify).not.toHaveBeenCalled();
		const alone = { ...context, run: { ...run, notebook: null } };
		expect(createCellButton(alone as unknown as Context, "Export").button.textContent).toBe("Copy");
	});
});
