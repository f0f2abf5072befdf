import { describe, expect, test } from "vitest";
import type { ToolRow } from "../src/run/state.ts";
import { createNameChanges } from "../src/view/transcript/notebook-names.ts";
import { done, finished, type Loose, play, script, started, text, tool, turn } from "./events.ts";
import { META, shadow, soon } from "./kernel.ts";
import { kernel, show } from "./stage.ts";

const running: Loose = { type: "tool_running", call_id: "c1", title: "run Python" };
const output = (bundle: Record<string, unknown>): Loose => ({
	type: "tool_progress",
	call_id: "c1",
	text: "",
	output: bundle,
});
const printed = (text: string) => output({ "text/plain": text });
const NAMES = {
	"application/vnd.agent-nb.names+json": {
		bound: ["df"],
		changed: ["x"],
		deleted: [],
		in_place: { orders: "+ rev\u202eenue" },
		code: "df = 1",
		undo: "t1",
	},
};
const detail = (): Element => shadow().querySelector(".anb-detail")!;

describe("the outputs of a running tool", () => {
	const events = [started, turn, tool(), running, printed("a"), printed("b\n")];

	test("text continues text, and other outputs stand between", () => {
		const state = play(script(...events, output({ "text/html": "<b>1</b>" }), printed("c")));
		const row = state.rows.find((one): one is ToolRow => one.kind === "tool");
		expect(row?.outputs).toEqual([
			{ "text/plain": "ab\n" },
			{ "text/html": "<b>1</b>" },
			{ "text/plain": "c" },
		]);
	});

	test("they are drawn as they arrive, and replaced by those of the result", async () => {
		await show();
		const all = script(...events, printed("1%\r2%\r3%\n"), done({ outputs: [{ "text/plain": "whole" }] }));
		kernel.batch(1, all.slice(0, -1), { run_id: "r1" });
		await soon();
		expect(detail().querySelector("pre")?.textContent).toBe("ab\n3%");
		kernel.batch(all.length, all.slice(-1), { run_id: "r1" });
		await soon();
		expect(detail().querySelector("pre")?.textContent).toBe("whole");
	});
});

test("a figure is shown whole and in its place, an image with a caption as a thumbnail", async () => {
	await show();
	const figure = { "image/png": "iVBORw==", "text/plain": "<Figure size 640x480 with 1 Axes>" };
	const image = { "image/png": "iVBORw==", "text/plain": "a cat" };
	const outputs = [{ "text/plain": "before" }, figure, image];
	kernel.batch(1, script(started, turn, tool(), running, done({ outputs })), { run_id: "r1" });
	await soon();
	expect(detail().querySelector(".anb-code ~ .anb-figure img")?.getAttribute("alt")).toContain("<Figure");
	expect(detail().querySelector(".anb-figure")?.textContent).toBe("");
	expect(detail().querySelector(".anb-thumbs figcaption")?.textContent).toBe("a cat");
});

describe("what code did to names", () => {
	test("is listed and can be undone once", async () => {
		await show();
		kernel.batch(1, script(started, turn, tool(), running, done({ outputs: [NAMES] })), { run_id: "r1" });
		await soon();
		const line = detail().querySelector(".anb-names")!;
		expect(line.textContent).toContain("set dfchanged xorders: + rev<U+202E>enue");
		const [undo] = line.querySelectorAll("button");
		undo!.click();
		undo!.click();
		const [asked, ...more] = kernel.commands("undo_python");
		expect([asked?.token, more]).toEqual(["t1", []]);
		kernel.answer(asked, { ok: true, text: "Put back: df, x." });
		await soon();
		expect([undo!.hidden, line.querySelector("[role=status]")?.textContent]).toEqual([
			true,
			"Put back: df, x.",
		]);
	});
});

test.each([
	["df = 1", false],
	["df = 1 # and more", true],
])("only code that is shown can be inserted: %s", async (code, isHidden) => {
	await show();
	const ready: Loose = { type: "tool_ready", call_id: "c1", title: "run Python", args: { code } };
	kernel.batch(1, script(started, turn, tool(), ready, running, done({ outputs: [NAMES] })), {
		run_id: "r1",
	});
	await soon();
	const insert = detail().querySelectorAll<HTMLElement>(".anb-names button")[1]!;
	expect([insert.textContent, insert.hidden]).toEqual(["Insert as a cell", isHidden]);
});

test("a title that says what the arguments are is not followed by them", async () => {
	const call = (call_id: string, before: string, title: string, args: object): Loose[] => [
		tool(call_id, before),
		{ type: "tool_ready", call_id, title, args },
		done({ call_id }),
	];
	const insert = { after: "daa810e9-5a0f-4c5e-8f4e-0b0f5d1c3a77", source: "a = 1" };
	await show();
	const events = [
		...call("c1", "insert cell", "insert cell below cell 3", insert),
		...call("c2", "order", "order", { amount: 3 }),
	];
	kernel.batch(1, script(started, turn, ...events), { run_id: "r1" });
	await soon();
	const titles = [...shadow().querySelectorAll(".anb-row > .lab")].map((label) => label.textContent);
	expect(titles).toEqual(["insert cell below cell 3", "order 3"]);
});

describe("a call that runs code", () => {
	const code = "total = sum(\n    sales\n)";
	const ready: Loose = { type: "tool_ready", call_id: "c1", title: "run Python", args: { code } };
	const row = (): HTMLElement => shadow().querySelector<HTMLElement>(".anb-item.step")!;
	const send = async (...events: Loose[]): Promise<void> => {
		await show();
		kernel.batch(1, script(started, turn, tool(), ...events), { run_id: "r1" });
		await soon();
	};

	test("shows it as it is written", async () => {
		const piece = (text: string): Loose => ({ type: "tool_args_delta", call_id: "c1", text });
		await send(piece('{"code": "a = 1\\nb = \\"'), piece("x\\\\n"), piece("\\u26"));
		expect(row().querySelector(".anb-source pre")?.textContent).toBe('a = 1\nb = "x\\n');
		expect(row().querySelector(".tail")).toBeNull();
	});

	test("is open, with the code in colours above its outputs, and folds to a count of lines", async () => {
		await send(ready, running, done({ summary: "1 line", outputs: [{ "text/plain": "8" }] }));
		const cell = row().querySelector<HTMLDetailsElement>(".anb-source")!;
		expect([row().querySelector("details")!.open, cell.open]).toEqual([true, true]);
		expect(cell.querySelector("pre")?.textContent).toBe(code);
		expect(cell.querySelector("pre span")).not.toBeNull();
		expect(cell.nextElementSibling?.textContent).toBe("8");
		expect(cell.querySelector("summary")?.textContent).toBe("3 lines of code");
		expect(row().textContent).not.toContain("arguments");
	});

	test("shows the other arguments that were approved, also of a call that changed a file", async () => {
		const args = { code, cwd: "/home" };
		const answer: Loose = {
			type: "approval_resolved",
			call_id: "c1",
			approved: true,
			proposed: args,
			executed: args,
		};
		const change: Loose = {
			type: "file_changed",
			call_id: "c1",
			path: "a.txt",
			action: "created",
			version: 1,
		};
		await send({ ...ready, args }, answer, running, { ...change, content: "x", size: 1 }, done());
		expect(row().querySelector(".anb-args")?.textContent).toContain("cwd: /home");
	});

	test("keeps the element of the code while it runs, so that a fold stays", async () => {
		await send(ready, running);
		const cell = row().querySelector(".anb-source");
		kernel.batch(6, script(started, turn, tool(), ready, running, printed("8"), done()).slice(5), {
			run_id: "r1",
		});
		await soon();
		expect(row().querySelector(".anb-source")).toBe(cell);
	});

	test("says what failed below the output", async () => {
		const failed = {
			ok: false,
			code: "FAILED",
			summary: "KeyError: 'x'",
			outputs: [{ "text/plain": "before" }],
		};
		await send(ready, running, done(failed));
		expect(row().querySelector(".anb-code ~ .anb-note.err")?.textContent).toBe("KeyError: 'x'");
	});

	test("folds long output with a count of its lines", async () => {
		const text = Array.from({ length: 100 }, (_, line) => `line ${line}\n`).join("");
		await send(ready, running, done({ outputs: [{ "text/plain": text }] }));
		expect(row().querySelector(".anb-code pre")?.textContent).toMatch(/^line 0\n[\s\S]*line 29\n$/);
		const rest = row().querySelector<HTMLDetailsElement>(".anb-rest")!;
		expect(rest.querySelector("summary")?.textContent).toBe("70 more lines");
		rest.open = true;
		await soon();
		expect(rest.querySelector("pre")?.textContent).toMatch(/^line 30\n[\s\S]*line 99\n$/);
	});
});

test("a run with code ends with its answer, and the names it left insert cells", async () => {
	await show();
	const step = (call_id: string, names: Record<string, unknown>): Loose[] => [
		tool(call_id),
		{ type: "tool_ready", call_id, title: "run Python", args: { code: "1" } },
		done({ call_id, outputs: [{ "application/vnd.agent-nb.names+json": { code: "1", ...names } }] }),
	];
	const events = script(
		started,
		turn,
		...step("c1", { bound: ["df", "x"], changed: [], deleted: [], kinds: { df: "DataFrame", x: "int" } }),
		...step("c2", {
			bound: [],
			changed: ["df"],
			deleted: ["x"],
			kinds: { df: "DataFrame, 2 rows", "a b": "int", fig: "Figure" },
			undo: "t2",
		}),
		text("South leads."),
		finished(),
	);
	kernel.batch(1, events.slice(0, -1), { run_id: "r1" });
	await soon();
	expect(shadow().querySelector(".anb-names.left")).toBeNull();
	kernel.batch(events.length, events.slice(-1), { run_id: "r1" });
	await soon();
	expect(shadow().querySelector(".anb-body > .anb-final .anb-say")?.textContent).toBe("South leads.");
	const left = shadow().querySelector(".anb-final > :last-child .anb-names.left")!;
	expect(left.textContent).toBe("In the notebook:df DataFrame, 2 rowsfig FigureKeep as a notebookVerify");
	expect(left.querySelectorAll("button code")).toHaveLength(2);
	const [keep, verify] = left.querySelectorAll<HTMLButtonElement>(".all button");
	keep!.click();
	kernel.answer(kernel.commands("keep")[0], { ok: true, text: "Wrote hero.ipynb" });
	await soon();
	expect(shadow().querySelector(".anb-toast")?.textContent).toBe("Wrote hero.ipynb");
	verify!.click();
	expect(verify!.disabled).toBe(true);
	kernel.answer(kernel.commands("verify")[0], { ok: true, equal: false, text: "x: differs: 2 instead of 1" });
	await soon();
	expect([verify!.disabled, left.querySelector(".told")?.textContent]).toEqual([
		false,
		"x: differs: 2 instead of 1",
	]);
	const undone = ["t2 df", "t2 x", "t2 fig"];
	kernel.batch(1, events, { run_id: "r1", meta: { ...META, undone } });
	await soon();
	const line = shadow().querySelector(".anb-final > :last-child .anb-names.left")!;
	expect(line.textContent).toBe("In the notebook:df DataFramex intKeep as a notebookVerify");
});

test("an import is no name that code has set", () => {
	const code = "import os.path, json as js\nfrom math import pi\nimportant = total = pi";
	const bound = ["os", "js", "pi", "important", "total"];
	const [set] = createNameChanges({ bound, code, changed: [], deleted: [] });
	expect(set!.textContent).toBe("set important, total");
});

test("code that never ran is not offered to be kept", async () => {
	await show();
	const ready: Loose = { type: "tool_ready", call_id: "c1", title: "run Python", args: { code: "1" } };
	const stopped = done({ ok: false, code: "STOPPED" });
	kernel.batch(1, script(started, turn, tool(), ready, stopped, finished("stopped")));
	await soon();
	expect(shadow().textContent).toContain("The run was stopped");
	expect(shadow().querySelector(".anb-names.left")).toBeNull();
});

test("the tooltip of an outside agent says what it does without asking", async () => {
	const agent = { title: "Gemini CLI", version: "0.61.0", unasked: "It reads files without asking." };
	await show();
	kernel.batch(1, script({ ...started, model: "acp:gemini", settings: { agent } }, turn), { run_id: "r1" });
	await soon();
	expect(shadow().querySelector<HTMLElement>(".anb-badge")?.title).toBe(
		"acp:gemini: Gemini CLI 0.61.0. It reads files without asking.",
	);
});
