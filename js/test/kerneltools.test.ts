import { describe, expect, test } from "vitest";
import type { ToolRow } from "../src/state.ts";
import { done, type Loose, play, script, started, tool, turn } from "./events.ts";
import { shadow, soon } from "./kernel.ts";
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
		expect(line.textContent).toContain("bound dfchanged x");
		const [undo, insert] = line.querySelectorAll("button");
		expect(insert?.textContent).toBe("Insert as a cell");
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
