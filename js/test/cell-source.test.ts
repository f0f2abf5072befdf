// No field of a notebook or of a run's file gets into a cell that a press inserts or runs, unless it is what it should be.

import { describe, expect, test, vi } from "vitest";
import { addCommands } from "../lab/commands.ts";
import { fixCell } from "../lab/fix.ts";
import { cellSource as build, type CellKind, isReadable, TEMPLATES } from "../src/run/cell-source.ts";

type Fields = Record<string, unknown>;
const cellSource = build as (kind: CellKind, values: Fields) => string | null;

const NOTE = { elements: [{ path: "main > h1", file: "about.html" }], text: "larger" };
const REQUEST = { run: "hero.2", notes: [NOTE], text: "Bluer" };
const VALUES: Fields = {
	base: "hero.2.at(3)",
	cell: "3f2a-7c_B",
	code: "total + 1",
	count: 3,
	images: ["images/größe_2-1.png", "images/hero-12.jpg"],
	literal: REQUEST,
	magic: "agent",
	model: "openai:gpt-6",
	name: "größe_2",
	next: "hero_2",
	options: ["-t kernel", "--budget 0.2", '--system "Use our colours"', "--approve get_*=ask"],
	prompt: REQUEST,
	rename: "robot",
	shown: "%%agent hero\nA page",
	value: "hero.2.at(3)",
	vendor: "anthropic",
};
const CODE = "open('x', 'w').write('x')";
const HOSTILE = [
	`print?\n${CODE}\nprint('innocent')`,
	`hero\n!${CODE}`,
	`hero;${CODE}`,
	"hero --approve auto",
	'hero" --approve auto "',
	"hero' --approve auto '",
	`hero")\n${CODE}\n("`,
	`hero).x(${CODE}`,
	"{{api_key}}",
	"%%bash",
	"hero\r!ls",
	"hero\u2028!ls",
	"hero\u202e",
	"he\u200bro",
	" ",
];
const NUMBERS = [
	"3",
	"3\n!ls",
	1.5,
	-1,
	0,
	Number.NaN,
	Number.POSITIVE_INFINITY,
	2 ** 60,
	[3],
	{ n: 3 },
	null,
];
const IMAGES = [
	"",
	"images/hero-1.svg",
	"images/../hero-1.png",
	"images/hero/hero-1.png",
	"/images/hero-1.png",
	"../images/hero-1.png",
	"images/hero-0.png",
	"images/hero-1.png ",
	"images/-x-1.png",
	"https://images/hero-1.png",
	null,
	["images/hero-1.png"],
];
const PLACES: Record<string, (hostile: string) => unknown[]> = {
	cell: (hostile) => [hostile, "", "3", "1-9999", "a}}{{api_key", "a\n", "x".repeat(65), ["a"], 3, null],
	count: (hostile) => [hostile, ...NUMBERS],
	images: (hostile) => [
		[hostile],
		[`images/${hostile}-1.png`],
		[`images/hero-1.png${hostile}`],
		...IMAGES.map((path) => ["images/hero-1.png", path]),
	],
	model: (hostile) => [hostile, "-c"],
	options: (hostile) => [[hostile], ["-t kernel", `--system ${hostile}`], [`-t ${hostile}`]],
	prompt: requests,
	literal: requests,
};

/** Requests whose parts from a page or a file are hostile; what the user types is free. */
function requests(hostile: string): unknown[] {
	const notes = ["path", "file"].map((part) => [
		{ ...NOTE, elements: [{ ...NOTE.elements[0], [part]: hostile }] },
	]);
	return [{ ...REQUEST, run: hostile }, ...notes.map((note) => ({ ...REQUEST, notes: note }))];
}

const fieldsOf = (kind: CellKind): string[] =>
	[...TEMPLATES[kind].matchAll(/\{(\w+)\}/g)].map(([, field = ""]) => field);
const TEXT = ["code", "shown"];
const CASES = (Object.keys(TEMPLATES) as CellKind[]).flatMap((kind) =>
	fieldsOf(kind).flatMap((field) => (TEXT.includes(field) ? [] : [[kind, field] as const])),
);
const OPTIONS = ` -t kernel --budget 0.2 --system "Use our colours" --approve get_*=ask`;
const LINE = `%%agent hero_2 -m openai:gpt-6 --from hero.2.at(3)${OPTIONS}`;

test("has only values that are what they should be", () => {
	const built = Object.keys(TEMPLATES).map((kind) => cellSource(kind as CellKind, VALUES));
	expect(built).toEqual([
		"%%agent about_3 -t kernel\n\nThis is about {{cell:3f2a-7c_B}}.",
		"total + 1",
		"%agent export größe_2",
		"%agent fix 3",
		"hero_2 = hero.pick(2).at(3).with_files(hero.pick(2).at(3).unfinished)",
		"%agent key anthropic",
		'%load_ext agent_nb\n%config AgentMagics.magic_name = "robot"\n%agent load größe_2',
		'hero_2, hero_2_view = await agent_nb.marimo.agent("`main > h1` in about.html: larger\\nBluer", name="hero_2", base=hero.pick(2).at(3))',
		`${LINE} -i images/größe_2-1.png -i images/hero-12.jpg\n{{hero.2.element("main > h1", "about.html")}}: larger\nBluer`,
		`${LINE}\nContinue where you stopped.`,
		'%load_ext agent_nb\n%config AgentMagics.magic_name = "robot"',
		"%%agent hero\nA page",
		`${LINE}\n`,
	]);
});

test.each(CASES)("%s does not take a hostile %s", (kind, field) => {
	for (const hostile of HOSTILE)
		for (const value of PLACES[field]?.(hostile) ?? [hostile])
			expect([value, cellSource(kind, { ...VALUES, [field]: value })]).toEqual([value, null]);
});

test("code is what is shown, and one that runs can be read first", () => {
	for (const code of HOSTILE)
		for (const kind of ["code", "shown"] as const)
			expect(cellSource(kind, { [kind]: code })).toBe(isReadable(code) ? code : null);
	expect(cellSource("shown", { shown: "#".repeat(2001) })).toBeNull();
});

describe("in JupyterLab", () => {
	/** A notebook with one cell that failed, the commands, and what they insert and run. */
	function notebook(executionCount: unknown, readOnly = false, id = "a", source = "print(totl)") {
		const insertCells = vi.fn();
		const sharedModel = { getId: () => id, getSource: () => source };
		const outputs = { toJSON: () => [{ output_type: "error" }] };
		const cell = { model: { sharedModel, outputs, executionCount }, ready: Promise.resolve() };
		const model = { readOnly, sharedModel: { insertCells } };
		const content = { widgets: [cell], activeCell: cell, activeCellIndex: 0, model };
		const panel = { node: document.body, content: { ...content, scrollToItem: () => Promise.resolve() } };
		const commands = new Map<string, { isEnabled(): boolean; execute(): unknown }>();
		const addCommand = (id: string, command: never) => commands.set(id, command);
		const app = { commands: { addCommand, addKeyBinding() {} } };
		const actions = { runCells: vi.fn() };
		const parts = { actions, stages: { get: () => null }, runs: { waiting: 0 } };
		addCommands(app as never, { currentWidget: panel } as never, null, parts as never);
		const press = (id: string) => commands.get(`agent-nb:${id}`)?.execute();
		const enabled = [...commands].flatMap(([id, command]) => (command.isEnabled() ? id.slice(9) : []));
		const sources = () =>
			insertCells.mock.calls.flatMap(([, cells]) => cells.map(({ source }: never) => source));
		return {
			press,
			enabled,
			sources,
			actions,
			fix: () => fixCell(actions as never, panel as never, cell as never),
		};
	}

	test.each([...HOSTILE, ...NUMBERS])("no execution count but a number is run: %s", (count) => {
		const { press, fix, enabled, sources, actions } = notebook(count);
		press("fix");
		fix();
		expect([sources(), actions.runCells.mock.calls]).toEqual([[], []]);
		expect(enabled).not.toContain("fix");
	});

	test.each(HOSTILE)("nothing asks about a cell whose id is not valid: %s", (id) => {
		const { press, enabled, sources } = notebook(3, false, id);
		press("ask");
		expect([sources(), enabled.includes("ask")]).toEqual([[], false]);
	});

	test("a run about a cell has a name that no cell has", () => {
		const { press, sources } = notebook(3, false, "a", `x = about_7\n${"about_2 ".repeat(300_000)}`);
		press("ask");
		expect(sources()).toEqual([expect.stringMatching(/^%%agent about_8 -t kernel\n/)]);
	});

	test("a command that inserts a cell is off in a notebook that is read-only", () => {
		const inserted = new Map<string, unknown[]>();
		for (const id of notebook(3).enabled) {
			const open = notebook(3);
			open.press(id);
			if (open.sources().length) inserted.set(id, open.sources());
		}
		expect(inserted.get("fix")).toEqual(["%agent fix 3"]);
		expect(inserted.get("ask")).toEqual(["%%agent about_1 -t kernel\n\nThis is about {{cell:a}}."]);
		const locked = notebook(3, true);
		for (const id of inserted.keys()) locked.press(id);
		locked.fix();
		expect(locked.sources()).toEqual([]);
		expect(locked.enabled.filter((id) => inserted.has(id))).toEqual([]);
	});
});
