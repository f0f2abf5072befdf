import { describe, expect, test } from "vitest";
import type { Row } from "../src/run/state.ts";
import { type Edits, foldEdits } from "../src/view/transcript/timeline.ts";
import { changed, done, play, script, started, text, tool } from "./events.ts";

/** Rows of finished edits, each `[call, path]`; a string is text between them. */
function rows(...items: (string | [call: string, path: string])[]): readonly Row[] {
	const events = items.flatMap((item) =>
		typeof item === "string"
			? [text(item)]
			: [
					tool(item[0]),
					changed(item[1], 2, { action: "edited", call_id: item[0], added: 2, removed: 1 }),
					done({ call_id: item[0] }),
				],
	);
	return play(script(started, ...events)).rows;
}

const shapes = (items: (Row | Edits)[]): string[] =>
	items.map((item) => (item.kind === "edits" ? `${item.rows.length} of ${item.path}` : item.kind));

describe("consecutive edits", () => {
	test("of one file are one row", () => {
		const folded = foldEdits(rows(["a", "x.html"], ["b", "x.html"], ["c", "y.css"], ["d", "x.html"]));
		expect(shapes(folded)).toEqual(["2 of x.html", "tool", "tool"]);
	});

	test("text between them keeps them apart", () => {
		expect(shapes(foldEdits(rows(["a", "x"], "Now the rest.", ["b", "x"])))).toEqual([
			"tool",
			"text",
			"tool",
		]);
	});

	test("one that is still running or failed stays outside", () => {
		const events = script(started, tool("c"), done({ call_id: "c", ok: false, code: "FAILED" }), tool("d"));
		const more = [...rows(["a", "x"], ["b", "x"]), ...play(events).rows];
		expect(shapes(foldEdits(more))).toEqual(["2 of x", "tool", "tool"]);
	});

	test("the row keeps its key as it grows", () => {
		const two = foldEdits(rows(["a", "x"], ["b", "x"]))[0];
		const three = foldEdits(rows(["a", "x"], ["b", "x"], ["c", "x"]))[0];
		expect(two?.key).toBe(three?.key);
	});
});
