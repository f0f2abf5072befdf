import { expect, test } from "vitest";
import { highlight } from "../src/highlight.ts";

function coloured(text: string): string[] {
	return (highlight("a.py", text) ?? [])
		.flat()
		.flatMap(({ colour, text }) => (colour ? [`${colour} ${text}`] : []));
}

test.each([
	["def draw(self, size=1.5e3):", ["k def", "a draw", "k self", "s 1.5e3"]],
	["class Page(Base): pass", ["k class", "a Page", "k pass"]],
	["@tool.one # why", ["k @tool.one", "c # why"]],
	[
		"if(x is not None): print('a\\'b', rb\"c\")",
		["k if", "k is", "k not", "k None", "a print", "s 'a", "s \\'", "s b'", 's rb"c"'],
	],
	['x = f"""one\n"two"""\ny = "open\nz = 0xFF', ['s f"""one', 's "two"""', 's "open', "s 0xFF"]],
])("%j", (text, tokens) => {
	expect(coloured(text)).toEqual(tokens);
});
