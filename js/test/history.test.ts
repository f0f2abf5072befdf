// The history of a conversation, as the notebook has it, and the bar that shows it.

import { beforeEach, describe, expect, test, vi } from "vitest";
import { conversationOf, orderOf, readSteps, type Step } from "../src/history.ts";
import { createBar } from "../src/view/stage-bar.ts";

function cell(source: string, name = "", { count = 1, id = "" } = {}) {
	const attributes = `data-anb-run="key ${name}"${id && ` data-anb-id="${id}"`}`;
	const html = name && `<!-- ${name}: done -->\n<div ${attributes}>`;
	return { source, html, executionCount: count };
}

const CELLS = [
	cell("%load_ext agent_nb"),
	cell("%%agent dash\n\nSales by month", "dash", { count: 2 }),
	cell("%%agent other\nA poem", "other", { count: 3 }),
	cell("%%agent dash_2 --from dash -m demo:\nBigger text", "dash_2", { count: 4 }),
	cell("%%agent dash_3 --from dash.at(1)\nIn blue", "dash_3", { count: 5 }),
];
const names = (steps: Iterable<Step>): string[] => [...steps].map(({ name }) => name);

test("the runs of a conversation are those that continue the same first run", () => {
	const steps = readSteps(CELLS);
	expect(steps.map(({ name, prompt, index, base }) => [name, prompt, index, base?.name])).toEqual([
		["dash", "Sales by month", 1, undefined],
		["other", "A poem", 2, undefined],
		["dash_2", "Bigger text", 3, "dash"],
		["dash_3", "In blue", 4, "dash"],
	]);
	expect(names(conversationOf(steps, steps[3]!))).toEqual(["dash", "dash_2", "dash_3"]);
	expect(names(conversationOf(steps, steps[1]!))).toEqual(["other"]);
});

test.each([
	["a run that continues itself", "%%agent dash --from dash", [undefined]],
	["a base that is not in the notebook", "%%agent dash --from runs/old.run.jsonl", [undefined]],
])("%s begins a conversation", (_what, source, bases) => {
	const steps = readSteps([cell(source, "dash")]);
	expect(steps.map(({ base }) => base?.name)).toEqual(bases);
});

describe("the newest run", () => {
	const order = (cells: ReturnType<typeof cell>[], before = new Map<string, Step>()) =>
		orderOf(readSteps(cells), before);

	test("is the one that was executed last, wherever its cell is", () => {
		const before = order([CELLS[4]!, CELLS[1]!, CELLS[3]!]);
		expect(names(before.values())).toEqual(["dash", "dash_2", "dash_3"]);
	});

	test("is one that has begun, and stays so when another one ends", () => {
		const [a, b] = ["%%agent a\nA", "%%agent b\nB"];
		const first = order([cell(a, "a", { id: "1" }), cell(b, "b")]);
		expect(names(first.values())).toEqual(["b", "a"]);
		const second = order([cell(a, "a", { id: "1" }), cell(b, "b", { id: "2" })], first);
		expect(names(second.values())).toEqual(["a", "b"]);
		const third = order([cell(a, "a", { count: 7 }), cell(b, "b", { id: "2" })], second);
		expect(names(third.values())).toEqual(["a", "b"]);
		const again = order([cell(a, "a", { id: "3" }), cell(b, "b", { count: 8 })], third);
		expect(names(again.values())).toEqual(["b", "a"]);
	});

	test("is gone with its cell", () => {
		const before = order(CELLS);
		expect(names(order(CELLS.slice(0, 4), before).values())).toEqual(["dash", "other", "dash_2"]);
	});
});

describe("the bar", () => {
	const actions = { choose: vi.fn(), pin: vi.fn(), follow: vi.fn(), next: vi.fn() };
	const runs = readSteps(CELLS).filter(({ name }) => name !== "other");
	const choose = (): void => {};
	const given = { moments: [0, 2], moment: null, next: null, choose };
	const versions = [{ moments: [1, 3], moment: 1, next: null, choose }, given, undefined];
	const state = { runs, key: "key dash", isPinned: true, next: null, versions };
	const button = (label: string): HTMLButtonElement =>
		[...document.querySelectorAll("button")].find(
			(one) => (one.getAttribute("aria-label") ?? one.textContent) === label,
		)!;
	let bar = createBar(actions);

	beforeEach(() => {
		bar = createBar(actions);
		document.body.replaceChildren(bar.element);
		bar.update(state);
	});

	test("has a button for each version, with the prompt, and says what continues an earlier run", () => {
		const titles = [...document.querySelectorAll("li button")].map((one) => one.getAttribute("title"));
		const prompt = "Sales by month";
		expect(titles).toEqual([
			`dash v1: ${prompt}`,
			`dash v2: ${prompt}`,
			"dash_2: Bigger text",
			"dash_3: In blue",
		]);
		expect(button("dash v1").getAttribute("aria-current")).toBe("step");
		expect([...document.querySelectorAll("i")].map((one) => one.textContent)).toEqual([" from dash"]);
	});

	test("chooses a version, and null for the newest of a run", () => {
		button("dash v1").click();
		button("dash v2").click();
		expect(actions.choose.mock.calls.map(([step, moment]) => [step.name, moment])).toEqual([
			["dash", 1],
			["dash", null],
		]);
	});

	test("continues only where a cell can, and keeps the focus", () => {
		expect(button("Continue from here").disabled).toBe(true);
		button("dash v1").focus();
		bar.update({ ...state, next: "%%agent dash_4 --from dash.at(1)" });
		expect(button("Continue from here").title).toBe("Insert a cell: %%agent dash_4 --from dash.at(1)");
		expect(document.activeElement).toBe(button("dash v1"));
	});
});
