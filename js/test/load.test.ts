// The button below a prompt that was run in a kernel without agent_nb.

import { expect, test, vi } from "vitest";
import { addLoadButtons } from "../lab/load.ts";

const PROMPT = "%%agent hero\nA form";
const MISSING = {
	output_type: "stream",
	name: "stderr",
	text: "UsageError: Cell magic `%%agent` not found.\n",
};

type Reply = { status: string; ename?: string; evalue?: string };

/** A notebook with one cell that has been run, unless it is only saved. */
function notebook({
	source = PROMPT,
	output = MISSING as object,
	readOnly = false,
	isRun = true,
	isLate = false,
	off = false,
} = {}) {
	const text = { source };
	const node = document.createElement("div");
	node.innerHTML = '<div class="jp-Cell-outputArea"></div>';
	const outputs: object[] = isLate ? [] : [output];
	const changes = new Set<() => void>();
	const changed = {
		connect: (listener: () => void) => changes.add(listener),
		disconnect: (listener: () => void) => changes.delete(listener),
	};
	const show = (...shown: object[]) => {
		outputs.splice(0, outputs.length, ...shown);
		for (const listener of changes) listener();
	};
	const model = {
		sharedModel: { getSource: () => text.source },
		outputs: { toJSON: () => outputs, changed },
	};
	const cell = { node, model };
	const content = { widgets: [cell], mode: "edit", model: { readOnly } };
	let answer: (reply: Reply | null) => void = () => {};
	const done = new Promise((resolve, reject) => {
		answer = (reply) => (reply ? resolve({ content: reply }) : reject(new Error("canceled")));
	});
	const requestExecute = vi.fn(() => ({ done }));
	const panelNode = document.createElement("div");
	panelNode.classList.toggle("agent-nb-off", off);
	const panel = { node: panelNode, content, sessionContext: { session: { kernel: { requestExecute } } } };
	const listeners = new Map<string, (sender: null, args: object) => void>();
	const signal = (name: string) => ({ connect: (listener: never) => listeners.set(name, listener) });
	const runCells = vi.fn();
	const actions = { executed: signal("ran"), executionScheduled: signal("starts"), runCells };
	addLoadButtons({ find: () => panel } as never, actions as never);
	const emit = (name: string) => listeners.get(name)?.(null, { notebook: content, cell });
	if (isRun) emit("ran");
	const button = () => node.querySelector("button");
	const press = () => {
		const event = new MouseEvent("click");
		Object.defineProperty(event, "isTrusted", { value: true });
		button()?.dispatchEvent(event);
	};
	return { text, node, content, panel, requestExecute, runCells, emit, button, press, answer, show };
}

test.each([
	[{}, true],
	[{ isRun: false }, false],
	[{ readOnly: true }, false],
	[{ source: "print('hi')" }, false],
	[{ source: "%agent models" }, false],
	[{ output: { ...MISSING, name: "stdout" } }, false],
	[{ output: { ...MISSING, text: "It says UsageError: Cell magic `%%agent` not found." } }, false],
	[{ output: { output_type: "display_data", data: { "text/plain": MISSING.text } } }, false],
])("it is there for a prompt that has just been run without agent_nb: %j", (given, expected) => {
	const { button, emit } = notebook(given);
	expect(button() !== null).toBe(expected);
	emit("starts");
	expect(button()).toBeNull();
});

test("it waits for outputs that arrive after the cell has run, until the cell runs again", () => {
	vi.useFakeTimers();
	const { button, emit, show } = notebook({ isLate: true });
	expect(button()).toBeNull();
	show(MISSING);
	expect(button()).not.toBeNull();
	show(MISSING, MISSING);
	show({ ...MISSING, text: "done" });
	expect(button()).toBeNull();
	emit("starts");
	show(MISSING);
	expect(button()).toBeNull();
	emit("ran");
	expect(button()).not.toBeNull();
	show();
	vi.advanceTimersByTime(10_000);
	show(MISSING);
	expect(button()).toBeNull();
	vi.useRealTimers();
});

test("pressing it loads agent_nb with a constant and runs the cell again", async () => {
	const { button, press, requestExecute, runCells, answer, content } = notebook();
	press();
	expect(requestExecute).toHaveBeenCalledExactlyOnceWith({
		code: "%load_ext agent_nb",
		silent: true,
		stop_on_error: false,
	});
	press();
	expect(requestExecute).toHaveBeenCalledOnce();
	expect(runCells).not.toHaveBeenCalled();
	answer({ status: "ok" });
	await vi.waitFor(() => expect(button()!.disabled).toBe(false));
	expect(runCells.mock.calls.map(([, cells]) => cells)).toEqual([content.widgets]);
});

test("an error is shown with the remedy, and can be tried again", async () => {
	const { node, button, press, requestExecute, runCells, answer } = notebook();
	press();
	answer({ status: "error", ename: "ModuleNotFoundError", evalue: "No module named <b>agent_nb</b>" });
	await vi.waitFor(() => expect(button()!.disabled).toBe(false));
	const said =
		"ModuleNotFoundError: No module named <b>agent_nb</b>. Run `%pip install agent-nb`, then press again.";
	expect(node.querySelector("[role=status]")!.textContent).toContain(said);
	expect(runCells).not.toHaveBeenCalled();
	press();
	expect(requestExecute).toHaveBeenCalledTimes(2);
	expect(node.querySelectorAll("[role=status]")).toHaveLength(1);
});

type Notebook = ReturnType<typeof notebook>;
const CHANGES: [string, (it: Notebook) => void][] = [
	["changed", ({ text }) => (text.source += "!")],
	["deleted", ({ content }) => content.widgets.splice(0)],
	["read-only", ({ content }) => (content.model.readOnly = true)],
	["off", ({ panel }) => panel.node.classList.add("agent-nb-off")],
];

test.each([...CHANGES, ["silent", () => {}] as const])(
	"nothing is run if it is %s meanwhile",
	async (how, change) => {
		const it = notebook();
		it.press();
		change(it);
		it.answer(how === "silent" ? null : { status: "ok" });
		await vi.waitFor(() => expect(it.button()!.disabled).toBe(false));
		expect(it.runCells).not.toHaveBeenCalled();
	},
);

test("a press that a script makes, and one in a notebook that was switched off, do nothing", () => {
	const scripted = notebook();
	scripted.button()!.click();
	const off = notebook({ off: true });
	off.press();
	for (const { requestExecute } of [scripted, off]) expect(requestExecute).not.toHaveBeenCalled();
});
