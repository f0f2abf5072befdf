// An answer with a type is a table, and nothing in it is markup.

import { afterEach, beforeEach, expect, test } from "vitest";
import widget from "../src/widget.ts";
import { finished, script, started, text, turn } from "./events.ts";
import { Kernel, shadow, soon } from "./kernel.ts";

let kernel: Kernel;
let stop: () => void;

beforeEach(async () => {
	document.body.innerHTML = '<div class="cell"><div data-anb-run="k"><p>frozen</p></div></div>';
	kernel = new Kernel();
	stop = widget.initialize({ model: kernel as never });
	await soon();
});

afterEach(() => stop());

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
