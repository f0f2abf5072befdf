// The history of a conversation, as the notebook has it, and the bar that shows it.

import { beforeEach, describe, expect, test, vi } from "vitest";
import { conversationOf, endOf, orderOf, readSteps, type Step } from "../lab/history.ts";
import { createBar } from "../lab/stage-bar.ts";
import type { CellSource } from "../src/run/cell-source.ts";
import type { StageView } from "../src/run/lab.ts";

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

test("a conversation ends below its last cell, also one that has not been run", () => {
	const end = (...more: string[]): number => {
		const cells = [...CELLS, ...more.map((source) => cell(source))];
		const steps = readSteps(cells);
		return endOf(cells, conversationOf(steps, steps[0]!));
	};
	expect(end("x = 1")).toBe(5);
	expect(end("x = 1", "%%agent dash_4 --from dash.at(1)\n")).toBe(7);
	expect(end("%%agent dash_4 --from dash", "%%agent dash_5 --from dash_4", "%%agent it --from other")).toBe(
		7,
	);
});

test.each([
	['{{dash.element("main > section:nth-of-type(2)")}}: larger', "section 2: larger"],
	[
		'{{dash.element("h1", "a/b.html")}} and {{dash.element("body > p")}}: blue',
		"the heading and the paragraph: blue",
	],
	["Fix {{dash.console[3]}}", "Fix error 3"],
	["Draw {{sales}} as in {{cell:ab-12}}", "Draw sales as in a cell"],
	["Explain {{ and }}", "Explain  and "],
])("the prompt %j reads %j", (prompt, words) => {
	expect(readSteps([cell(`%%agent dash\n${prompt}`, "dash")])[0]?.prompt).toBe(words);
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
	const set = vi.fn();
	const view: StageView = {
		...{ moments: [1, 3], moment: 1, next: null, phase: "done", isBusy: false, device: "full" },
		...{ details: false, points: false, set, point: vi.fn(), stop: vi.fn() },
	};
	const views = [view, { ...view, moments: [0, 2], moment: null }, undefined];
	const state = { runs, key: "key dash", isPinned: false, isNewest: false, views, view };
	const button = (label: string): HTMLButtonElement =>
		document.querySelector(`button[aria-label="${label}"]:not([hidden])`)!;
	let bar = createBar(actions);

	beforeEach(() => {
		bar = createBar(actions);
		document.body.replaceChildren(bar.element);
		bar.update(state);
	});

	test("has the number of each run, and a button for each version with the prompt and what it continues", () => {
		const prompt = "Sales by month";
		const titles = [...document.querySelectorAll("li button")].map((one) => one.getAttribute("title"));
		expect(titles).toEqual([
			`dash v1: ${prompt}`,
			`dash v2: ${prompt}`,
			"dash_2: Bigger text",
			"dash_3, from dash: In blue",
		]);
		expect([...document.querySelectorAll("li small")].map((one) => one.textContent)).toEqual(["1", "2", "3"]);
		expect(button("dash v1").getAttribute("aria-current")).toBe("step");
		expect(document.querySelector(".run")?.textContent).toBe("dashdone");
	});

	test("chooses a version, and null for the newest of a run", () => {
		button("dash v1").click();
		button("dash v2").click();
		expect(actions.choose.mock.calls.map(([step, moment]) => [step.name, moment])).toEqual([
			["dash", 1],
			["dash", null],
		]);
		expect(actions.pin).not.toHaveBeenCalled();
	});

	test("continues only where a cell can, and keeps the focus", () => {
		expect(button("Continue from here").disabled).toBe(true);
		button("dash v1").focus();
		const next = "%%agent dash_4 --from dash.at(1)" as CellSource;
		bar.update({ ...state, view: { ...view, next, moment: null } });
		expect(button("Continue from here").title).toBe(`Insert a cell: ${next}`);
		expect(document.activeElement).toBe(button("dash v1"));
	});

	test("changes the width of the page, and shows what is around it", () => {
		button("Desktop, 1280 px").click();
		button("Show figures, files and actions").click();
		expect(set.mock.calls).toEqual([[{ device: "desktop" }], [{ details: true }]]);
	});

	test("offers what applies: Stop while the run is active, and the newest while another one is shown", () => {
		expect([button("Stop"), button("Follow newest")]).toEqual([null, expect.anything()]);
		bar.update({ ...state, isNewest: true, view: { ...view, isBusy: true, points: null, device: null } });
		expect([button("Continue from here"), button("Follow newest"), button("Point at an element")]).toEqual([
			...[null, null, null],
		]);
		button("Stop").click();
		expect(view.stop).toHaveBeenCalledOnce();
	});

	test("pins what is shown, and releases it", () => {
		button("Pin").click();
		bar.update({ ...state, isPinned: true });
		expect(button("Pin").getAttribute("aria-pressed")).toBe("true");
		button("Pin").click();
		expect(actions.pin.mock.calls).toEqual([[true], [false]]);
	});
});
