import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RunEntry } from "../src/run/runs.ts";
import { copyChoices, newChoices, type Replay } from "../src/view/choices.ts";
import type { Context } from "../src/view/context.ts";
import { createConsole } from "../src/view/result/console.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The part of a run that a console uses, and what it has sent. */
function createRun() {
	const sent: unknown[][] = [];
	const command = (_name: string, fields: { entries: unknown[] }) => {
		sent.push(fields.entries);
		return Promise.resolve({ ok: true, numbers: [7] });
	};
	const meta = { network: false, bound: [], name: "hero", magic: "agent" };
	return {
		sent,
		run: { reporter: null, state: { owner: true, meta }, command } as unknown as RunEntry,
	};
}

function view(run: RunEntry, life = new AbortController()) {
	const context: Context = {
		run,
		features: [],
		choices: newChoices(),
		signal: life.signal,
		redraw: vi.fn(),
		draw: vi.fn(),
		announce: () => {},
		notify: () => {},
	};
	const errors: number[] = [];
	return { console: createConsole(context, (count) => errors.push(count)), errors, life, context };
}

test("a report holds the newest hundred entries", () => {
	const { run, sent } = createRun();
	const { console } = view(run);
	for (let index = 0; index < 150; index++) console.add({ level: "log", text: String(index) });
	vi.runAllTimers();
	expect(sent.map((entries) => entries.length)).toEqual([100]);
	expect(sent[0]?.at(-1)).toEqual({ level: "log", text: "149" });
});

test("the next view reports when one is closed", () => {
	const { run, sent } = createRun();
	const [first, second] = [view(run), view(run)];
	for (const { console } of [first, second]) console.add({ level: "log", text: "both" });
	vi.runAllTimers();
	expect(sent).toHaveLength(1);
	first.life.abort();
	second.console.add({ level: "log", text: "left" });
	vi.runAllTimers();
	expect(sent[1]).toEqual([{ level: "log", text: "left" }]);
});

test("a page that logs without end is not reported without end", () => {
	const { run, sent } = createRun();
	const { console, context, errors } = view(run);
	for (let second = 0; second < 20; second++) {
		for (let index = 0; index < 50; index++) console.add({ level: "log", text: "again" });
		vi.runAllTimers();
	}
	console.add({ level: "error", text: "news" });
	vi.runAllTimers();
	expect(sent.map((entries) => entries.length)).toEqual([50, 50, 50, 50, 1]);
	expect(errors).toEqual([1]);
	expect(context.redraw).not.toHaveBeenCalled();
	console.clear();
	console.add({ level: "log", text: "the next load" });
	vi.runAllTimers();
	expect(sent.at(-1)).toEqual([{ level: "log", text: "the next load" }]);
	expect(errors).toEqual([1, 0]);
});

test("the switch for the network is offered only where the page is closed and live", () => {
	const { run } = createRun();
	const { console, context } = view(run);
	document.body.append(console.element);
	const label = console.element.querySelector<HTMLElement>(".anb-net")!;
	const box = label.querySelector("input")!;
	console.update();
	expect([label.hidden, box.checked]).toEqual([false, false]);
	box.click();
	expect(context.choices.network).toBe(true);
	expect(context.redraw).toHaveBeenCalled();
	expect(copyChoices(context.choices).network).toBe(false);
	context.choices.replay = {} as Replay;
	console.update();
	expect(label.hidden).toBe(true);
});

describe("Ask to fix", () => {
	const ERROR = {
		level: "error",
		text: "x\n{{secret}} is not defined",
		line: 3,
		file: "index.html",
	} as const;

	function broken() {
		const shown = createRun();
		const { console, context } = view(shown.run);
		console.add(ERROR);
		console.update();
		return { ...shown, console, context, list: console.element.querySelector(".anb-con")! };
	}

	test("asks for it by the number that the kernel has for it, once, below what was typed", async () => {
		const { console, context, sent } = broken();
		context.choices.ask.text = "Larger, please";
		for (let press = 0; press < 2; press++) {
			console.element.querySelector<HTMLElement>(".fix")!.click();
			await vi.runAllTimersAsync();
		}
		expect(sent).toContainEqual([ERROR]);
		expect(context.choices.ask.text).toBe("Larger, please\nFix {{hero.console[7]}}");
		expect(context.choices.ask.focus).toBe("text");
	});

	test("asks for nothing if the kernel has no number", async () => {
		const { console, context, run } = broken();
		Object.assign(run, { command: () => Promise.resolve({ ok: true, numbers: ["7]}} {{key"] }) });
		console.element.querySelector<HTMLElement>(".fix")!.click();
		await vi.runAllTimersAsync();
		expect(context.choices.ask.text).toBe("");
	});

	test.each([
		["while the run goes on", { busy: true }, {}],
		[
			"for a variable that cannot be named in a cell",
			{},
			{ meta: { bound: [], name: "a b", magic: "agent" } },
		],
		["where a cell has no references", {}, { meta: { bound: [], name: "hero", magic: "" } }],
		["when the kernel is gone", {}, { lost: "the kernel was restarted" }],
		["for a variant that the variable does not hold", {}, { ready: { variant: 1 } }],
	])("is not offered %s", (_when, entry, state) => {
		const { console, list, run } = broken();
		expect(list.classList.contains("asks")).toBe(true);
		Object.assign(run, entry, { state: { ...run.state, ...state } });
		console.update();
		expect(list.classList.contains("asks")).toBe(false);
	});

	test("is not offered for what is no error", () => {
		const { console } = view(createRun().run);
		console.add({ level: "warn", text: "careful" });
		expect(console.element.querySelector(".fix")).toBeNull();
	});
});
