import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Cell, NotebookModule, NotebookPanel, Tracker } from "../lab/jupyter.ts";
import { createNotebookCells } from "../lab/notebook.ts";
import type { CellChange } from "../src/run/events.ts";
import { type CellWrite, LAB, type NotebookCells, VERSION, type Written } from "../src/run/lab.ts";
import widget from "../src/widget.ts";
import { done, finished, script, started, tool, turn } from "./events.ts";
import { Kernel, META, shadow, soon } from "./kernel.ts";

const TYPE = "application/vnd.agent-nb.change+json";
const CHANGE: CellChange = {
	place: 0,
	id: "c1",
	action: "change",
	cell_id: "mean",
	number: 2,
	kind: "code",
	before: "a = 1",
	after: "a = 2 # <img src=x onerror=alert(1)>",
	secrets: [],
};

let kernel: Kernel;
let stop: () => void;
let now: string | null;
const write = vi.fn((_: unknown, changes: readonly CellWrite[]): (Written | null)[] =>
	changes.map(({ id }) => ({ id, isThere: true, takeBack: () => true })),
);
const takeBack = vi.fn((_: unknown, written: readonly Written[]) => written.map(() => true));
const runCells = vi.fn(() => true);

beforeEach(() => {
	document.body.innerHTML = '<div class="cell"><div data-anb-run="k"><p>frozen</p></div></div>';
	now = CHANGE.before;
	const cells: Partial<NotebookCells> = { sourceNow: () => now, write, takeBack, runCells };
	vi.stubGlobal(LAB as unknown as string, { version: VERSION, stage: () => null, setRuns() {}, ...cells });
	kernel = new Kernel();
	const context = { model: { readOnly: false, sharedModel: { cells: [] } } };
	stop = widget.initialize({ model: Object.assign(kernel, { widget_manager: { context } }) as never });
});

afterEach(() => {
	stop();
	vi.unstubAllGlobals();
	vi.clearAllMocks();
});

async function offer(
	changes: readonly unknown[] = [CHANGE],
	meta: object = { reviewable: true },
	fix: CellChange | null = null,
) {
	const outputs = changes.map((change) => ({ [TYPE]: change }));
	kernel.batch(1, script(started, turn, tool(), done({ outputs }), finished()), {
		meta: { ...META, ...meta },
	});
	kernel.say({
		kind: "ready",
		line: "",
		variant: 0,
		picked: false,
		paths: [],
		digest: "d",
		fix,
	});
	await soon();
}

const panel = (): HTMLElement => shadow().querySelector<HTMLElement>(".anb-proposal")!;
const buttons = (): string[] => [...panel().querySelectorAll("button")].map((one) => one.textContent ?? "");

async function press(label: string): Promise<void> {
	[...panel().querySelectorAll("button")].find((one) => one.textContent === label)!.click();
	await soon();
}

/** Answers the last decision, with the real texts. */
async function answer(fields: object = {}): Promise<void> {
	const made = { run: "r1", model: "demo:" };
	const changes = [{ ...CHANGE, above: [], ...fields }];
	kernel.answer(kernel.commands("decide").at(-1), { ok: true, changes, made });
	await soon();
}

const decisions = (): unknown[] => kernel.commands("decide").map(({ decision }) => decision);

describe("changes of cells", () => {
	test("are in the order that the notebook gets, whichever call came first", async () => {
		const top = { ...CHANGE, action: "insert", number: 0, before: "" };
		const second = { ...top, id: "c2", place: 1, after: "yes = 2" };
		await offer([second, CHANGE, { ...top, id: "c3", after: "yes = 1" }]);
		const cards = [...panel().querySelectorAll(".anb-card")].map(({ textContent }) => textContent);
		expect(cards.map((card) => /yes = \d/.exec(card)?.[0])).toEqual(["yes = 1", "yes = 2", undefined]);
	});

	test("are shown whole and as text, and accepted with the kernel's texts", async () => {
		await offer();
		expect(panel().querySelector("img")).toBeNull();
		expect(panel().textContent).toContain("onerror");
		expect(buttons()).toEqual(["Accept and run", "Accept", "Refuse", "Show"]);
		await press("Accept");
		expect(write).not.toHaveBeenCalled();
		await answer();
		expect(write.mock.calls[0]?.[1]).toMatchObject([{ ...CHANGE, made: { run: "r1", model: "demo:" } }]);
		expect(decisions()).toEqual(["accepted"]);
		expect(runCells).not.toHaveBeenCalled();
		await press("Undo");
		expect(takeBack).toHaveBeenCalledOnce();
		expect(decisions()).toEqual(["accepted", "open"]);
	});

	test.each([
		["a cell that has changed since", { after: "a = 2" }, true],
		["text with invisible characters", { after: "a = 2 \u202e" }, false],
	])("are not written: %s", async (_, fields, fails) => {
		if (fails) write.mockReturnValueOnce([null]);
		await offer();
		await press("Accept");
		now = "a = 3";
		await answer(fields);
		expect(decisions()).toEqual(["accepted", "open"]);
		await answer();
		expect(panel().textContent).toContain("The cell has changed since");
		expect(panel().textContent).toContain("a = 3");
		expect(buttons()).not.toContain("Accept");
	});

	test.each([
		["change", CHANGE.after, "Accepted: the notebook has it"],
		["delete", null, "Accepted: the notebook no longer has it"],
	])("say what was accepted: %s", async (action, after, words) => {
		const decided = [{ change: "c1", decision: "accepted" }];
		now = after;
		await offer([{ ...CHANGE, action }], { reviewable: true, decided });
		expect(panel().textContent).toContain("1 change, none to decide");
		expect(panel().querySelector(".anb-card .sub")!.textContent).toBe(words);
	});

	test("are run only if they are shown whole", async () => {
		await offer([{ ...CHANGE, after: "key = '•••'", secrets: ["`key`"] }]);
		expect(panel().textContent).toContain("••• stands for the value of key. The cell has it.");
		await press("Accept and run");
		now = "key = 'tiger'";
		await answer({ after: now });
		expect(write).toHaveBeenCalledOnce();
		expect(runCells).not.toHaveBeenCalled();
	});

	test("are those of a fix too, which is inserted or copied where its cell cannot be changed", async () => {
		await offer([], { reviewable: true }, { ...CHANGE, number: 0 });
		expect(panel().textContent).toContain("The failed cell");
		expect(buttons()).toEqual(["Accept and run", "Accept", "Refuse", "Show"]);
		now = "a = 3";
		await offer([], { reviewable: true, name: "again" }, { ...CHANGE, number: 0 });
		expect(buttons()).toEqual(["Refuse", "Insert below", "Show"]);
		vi.unstubAllGlobals();
		await offer([], { reviewable: true, name: "more" }, { ...CHANGE, number: 0 });
		expect(buttons()).toEqual(["Copy"]);
	});

	test("of a loaded run, and those that another window has decided, are not offered", async () => {
		await offer([CHANGE], { reviewable: false });
		expect(buttons()).toEqual(["Show"]);
		expect(panel().textContent).toContain("Run the cell again");
		await offer([CHANGE], { reviewable: true, decided: [{ change: "c1", decision: "refused" }] });
		expect(buttons()).toEqual(["Show"]);
		expect(panel().textContent).toContain("Refused");
	});

	test("that a damaged file has are not shown, and the last of a cell counts", async () => {
		const damaged = [null, 3, {}, { ...CHANGE, before: 1 }, { ...CHANGE, number: "2" }];
		await offer([
			...damaged,
			CHANGE,
			{ ...CHANGE, after: "last" },
			{ ...CHANGE, id: "c2", after: CHANGE.before },
		]);
		expect(panel().querySelectorAll(".anb-card")).toHaveLength(1);
		expect(panel().textContent).toContain("last");
	});
});

const CONTEXT = {};

function cellOf(id: string, outputs: readonly object[], source = ""): Cell {
	const sharedModel = { getId: () => id, getSource: () => source };
	const model = { type: "code", sharedModel, outputs: { toJSON: () => outputs }, executionCount: 1 };
	return { model } as unknown as Cell;
}

/** Reads these cells of the notebook whose context is `CONTEXT`. */
function labOf(widgets: Cell[]): NotebookCells {
	const notebook = { context: CONTEXT, content: { widgets } } as unknown as NotebookPanel;
	const tracker = {
		find: (matches: (one: NotebookPanel) => boolean) => (matches(notebook) ? notebook : undefined),
	};
	const actions = { executionScheduled: { connect() {} } } as unknown as NotebookModule["NotebookActions"];
	return createNotebookCells(tracker as unknown as Tracker, actions);
}

test("the kernel gets bounded cells, and only of the notebook that has the cell of its run", () => {
	const loud = { output_type: "stream", text: "x".repeat(1_000_000) };
	const image = { output_type: "display_data", data: { "image/png": "A".repeat(3_900_000), "x/y": "z" } };
	const cells = Array.from({ length: 300 }, (_, index) => {
		const outputs = index < 40 ? [loud, image] : Array(20).fill(loud);
		const source = (index === 1 ? "s" : "\u0001").repeat(200_000);
		return cellOf(index ? `c${index}` : "i".repeat(1_000_000), outputs, source);
	});
	const lab = labOf(cells);
	expect(lab.readCells(CONTEXT, "other", null)).toBeNull();
	expect(lab.readCells({}, "c1", null)).toBeNull();
	const outline = lab.readCells(CONTEXT, "c1", null)!;
	expect([outline.cells.length, outline.left_out]).toEqual([300, 0]);
	expect(JSON.stringify(outline).length).toBeLessThan(2_000_000);
	const all = [...cells.keys()].map((index) => index + 1);
	const text = JSON.stringify(lab.readCells(CONTEXT, "c1", [2, ...all])!);
	expect(new TextEncoder().encode(text).length).toBeLessThan(10_000_000);
	expect(text).toContain("s".repeat(100_000));
	expect(text).toContain('"cut":true');
	expect(text).toContain('"image/png":""');
});

test("the kernel gets the number of cells that an outline leaves out", () => {
	const cells = Array.from({ length: 5_003 }, (_, index) => cellOf(`c${index}`, [], "x"));
	const outline = labOf(cells).readCells(CONTEXT, "c1", null)!;
	expect([outline.cells.length, outline.left_out]).toEqual([5_000, 3]);
	expect(labOf(cells).readCells(CONTEXT, "c1", [5_003])).toMatchObject({
		cells: [{ id: "c5002" }],
		left_out: 0,
	});
});

test("the kernel gets the number of outputs that are missing from its answer, or have lost their text", () => {
	const line = (text: string): object => ({ output_type: "stream", text });
	const read = (outputs: object[]): { outputs: { text: string }[]; omitted: number } =>
		labOf([cellOf("c0", outputs)]).readCells(CONTEXT, "c0", [1])!.cells[0] as never;
	expect(read([line("a"), line("")])).toMatchObject({ outputs: [line("a"), line("")], omitted: 0 });
	const many = read(Array(50_000).fill(line("a")));
	expect(many.outputs.length + many.omitted).toBe(50_000);
	const large = Array(100).fill(line("\u0001".repeat(20_000)));
	const { outputs, omitted } = read(large);
	const whole = outputs.filter(({ text }) => text !== "");
	expect(whole.length).toBeGreaterThan(10);
	expect(whole.length + omitted).toBe(100);
});
