// An answer with a type is a table, those of variants are compared, and nothing in them is markup.

import { beforeEach, expect, test } from "vitest";
import { done, finished, script, started, text, tool, turn } from "./events.ts";
import { shadow, soon } from "./kernel.ts";
import { kernel, show } from "./stage.ts";

beforeEach(show);

async function shown(answer: unknown): Promise<string[][] | null> {
	kernel.batch(1, script(started, turn, text("A line."), { ...finished(), answer }));
	await soon();
	const table = shadow().querySelector(".anb-typed table");
	const rows = [...(table?.querySelectorAll("tr") ?? [])];
	return table && rows.map((row) => [...row.children].map((cell) => cell.textContent));
}

test.each([
	[
		{ slope: 0.5, p: null },
		[
			["field", "value"],
			["slope", "0.5"],
			["p", "null"],
		],
	],
	[
		3,
		[
			["field", "value"],
			["answer", "3"],
		],
	],
	[
		["<b>a</b>"],
		[
			["", "value"],
			["1", "<b>a</b>"],
		],
	],
	[
		[{ a: 1 }, { b: [2] }],
		[
			["", "a", "b"],
			["1", "1", ""],
			["2", "", "[2]"],
		],
	],
	[
		{ x: "y".repeat(1000) },
		[
			["field", "value"],
			["x", `${"y".repeat(400)}…`],
		],
	],
	[null, null],
])("%j", async (answer, table) => {
	expect(await shown(answer)).toEqual(table);
	expect(shadow().querySelector(".anb-typed b")).toBeNull();
});

test("the answers of variants are below them, with agreement and a strip plot of numbers", async () => {
	const answers = [{ slope: 0.5 }, { slope: 0.500001 }, { slope: 0.7 }, null];
	const code = { type: "tool_ready", call_id: "c1", title: "run", args: { code: "x = 1\nfit(x)\n" } };
	const variants = answers.map((answer, variant) =>
		[started, turn, tool(), code, done(), { ...finished(), answer }].map((event) => ({ ...event, variant })),
	);
	kernel.batch(1, script(...(variants.flat() as Parameters<typeof script>)));
	await soon();
	const rows = [...shadow().querySelectorAll(".anb-answers tr")].map((row) =>
		[...row.children].map((cell) => cell.textContent),
	);
	expect(rows).toEqual([
		["variant", "model", "slope", "last line of code", "agree"],
		["1", "demo", "0.5", "fit(x)", "2 of 3"],
		["2", "demo", "0.500001", "fit(x)", "2 of 3"],
		["3", "demo", "0.7", "fit(x)", "1 of 3"],
	]);
	expect(shadow().querySelectorAll(".anb-answers circle")).toHaveLength(3);
	expect(shadow().querySelector(".anb-answers figcaption")?.textContent).toBe(
		"slope: median 0.5, middle half 0.5 to 0.6",
	);
});
