import { describe, expect, test } from "vitest";
import { highlight } from "../src/base/highlight.ts";

/** The coloured pieces of a text, as `colour text`. */
function coloured(path: string, text: string): string[] {
	const tokens = highlight(path, text)!.flat();
	return tokens.filter((token) => token.colour).map((token) => `${token.colour} ${token.text}`);
}

const whole = (path: string, text: string) =>
	highlight(path, text)!
		.map((line) => line.map((token) => token.text).join(""))
		.join("\n");

describe("highlight", () => {
	test("markup has tags, attributes, values, and scripts and styles in their own languages", () => {
		const page =
			'<!doctype html><a href="x>y" hidden>&amp;</a><style>p{margin:0}</style><script>let a</script>';
		expect(coloured("a.html", page)).toEqual([
			"k <!doctype html>",
			...["t <a", "a href", 's "x>y"', "a hidden", "t >", "s &amp;", "t </a", "t >"],
			...[
				"t <style",
				"t >",
				"t p",
				"a margin",
				"s 0",
				"t </style",
				"t >",
				"t <script",
				"t >",
				"k let",
				"t </script",
				"t >",
			],
		]);
		expect(coloured("a.html", '<script type="importmap">{"a": 1}</script>')).toContain('a "a"');
	});

	test("CSS has selectors, properties and values", () => {
		const css = `/* c */ h2:hover, .b > #top[href="x"] { corner-shape: squircle; margin: -.5em auto !important }
			@media (min-width: 40em) and (hover) { a { background: url(data:image/png;base64,ab) #fff; x: var(--ink) } }`;
		expect(coloured("a.css", css)).toEqual([
			...[
				"c /* c */",
				"t h2",
				"t .b",
				"t #top",
				's "x"',
				"a corner-shape",
				"a margin",
				"s -.5em",
				"k !important",
			],
			...["k @media", "a min-width", "s 40em", "k and", "t a", "a background", "k url"],
			...["s data:image/png;base64,ab", "s #fff", "a x", "k var", "a --ink"],
		]);
	});

	test("JavaScript has strings, comments, patterns and keywords", () => {
		const script = 'const x = `a b`; // c\nif (/[/"]+/.test(y)) { go({ key: 1 / 2 }) } /* open';
		expect(coloured("a.mjs", script)).toEqual([
			...["k const", "s `a b`", "c // c", "k if", 's /[/"]+/', "a test", "a go", "a key", "s 1", "s 2"],
			"c /* open",
		]);
	});

	test("JSON, Python and Markdown", () => {
		expect(coloured("a.json", '{"a": "b", "c": [true, -1.5]}')).toEqual([
			...['a "a"', 's "b"', 'a "c"', "k true", "s 1.5"],
		]);
		expect(coloured("a.py", '@tool\ndef f(x):\n  """d\n  e"""\n  return None  # c')).toEqual([
			...["k @tool", "k def", "a f", 's """d', 's   e"""', "k return", "k None", "c # c"],
		]);
		expect(coloured("a.py", "print('a\\'b', rb\"c\", self.x)")).toEqual([
			...["a print", "s 'a\\'b'", 's rb"c"', "k self"],
		]);
		expect(coloured("a.md", "# T\n> q\n[l](http://x)\n```\n# no\n```")).toEqual([
			"t # T",
			"c > q",
			"s http://x",
		]);
	});

	test("a language that is unknown has no colours", () => expect(highlight("notes.txt", "x")).toBeNull());

	test("every character stays, whatever the text", () => {
		const hostile = [
			"<a '\"<a '\"",
			'a:url(x)url("',
			"=/[",
			'"""',
			"`",
			"<!--",
			"@x",
			"{}[]();:",
			"\\",
			"\n> #",
		];
		for (const path of ["a.html", "a.css", "a.js", "a.json", "a.py", "a.md"])
			for (const one of hostile)
				for (const other of hostile) {
					const text = `${one}${other} x\n${one.repeat(3)}`;
					expect(whole(path, text)).toBe(text);
				}
	});

	test("no text hangs the page", () => {
		// Each of these took exponential or quadratic time with a pattern that was less careful.
		for (const piece of ["a:url(x)", "a:url(", 'a:"x', "](x", "<a '\"", "=/x "])
			for (const path of ["a.html", "a.css", "a.js", "a.md"]) {
				const text = piece.repeat(30_000 / piece.length);
				expect(whole(path, text)).toBe(text);
			}
	});
});
