import ParserBlock from "markdown-it/lib/parser_block.mjs";
import { describe, expect, test, vi } from "vitest";
import { Markdown } from "../src/base/markdown.ts";

function render(text: string, size = text.length): HTMLElement {
	const element = document.createElement("div");
	const markdown = new Markdown(element);
	for (let end = size; end < text.length; end += size) markdown.set(text.slice(0, end), false);
	markdown.set(text, true);
	return element;
}

const ATTACKS = [
	"<script>alert(1)</script>",
	"<img src=x onerror=alert(1)>",
	"<svg/onload=alert(1)>",
	'<a href="javascript:alert(1)">x</a>',
	"<iframe srcdoc='<script>alert(1)</script>'></iframe>",
	"<style>*{background:url(//evil.example)}</style>",
	"<details open ontoggle=alert(1)>",
	"<math><mi xlink:href='javascript:alert(1)'>x</mi></math>",
	"[x](javascript:alert(1))",
	"[x](JaVaScRiPt:alert(1))",
	"[x](java\nscript:alert(1))",
	"[x](\u0001javascript:alert(1))",
	"[x](  javascript:alert(1))",
	"[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
	"[x](vbscript:msgbox(1))",
	"[x](//evil.example)",
	"![x](javascript:alert(1))",
	"![x](https://evil.example/pixel.png)",
	'![x](x" onerror="alert(1))',
	'[x](https://a.example" onclick="alert(1))',
	"[a](https://a.example 'x' onmouseover='alert(1)')",
	"<javascript:alert(1)>",
	"`<img src=x onerror=alert(1)>`",
	"```html\n<script>alert(1)</script>\n```",
	'```"><script>alert(1)</script>\nx\n```',
	"| <img src=x onerror=alert(1)> | b |\n|---|---|\n| c | d |",
	"> <base href=//evil.example>",
	"- <form action=javascript:alert(1)><input type=submit>",
	"&#106;avascript:alert(1)",
	"<<script>script>alert(1)<</script>/script>",
];

const ALLOWED =
	"a blockquote br code em h5 h6 hr li ol p pre s span strong table tbody td th thead tr ul".split(" ");

test("an image is a link to it, and is not loaded", () => {
	const element = render("See ![a chart](https://evil.example/pixel.png).");
	expect(element.querySelector("img")).toBeNull();
	expect(element.querySelector("a")?.getAttribute("href")).toBe("https://evil.example/pixel.png");
	expect(element.textContent).toBe("See !a chart.");
});

describe("safety", () => {
	test.each(ATTACKS)("%s stays text", (attack) => {
		for (const size of [attack.length, 1, 3]) {
			const element = render(attack, size);
			for (const child of element.querySelectorAll("*")) {
				expect(ALLOWED).toContain(child.localName);
				for (const { name, value } of child.attributes) {
					expect(["href", "target", "rel", "start", "class"]).toContain(name);
					if (name === "href") expect(value).toMatch(/^(https?|mailto):/);
				}
			}
		}
	});

	test("links open in a new tab and send no referrer", () => {
		const link = render("[here](https://a.example/x)").querySelector("a")!;
		expect(link.getAttribute("href")).toBe("https://a.example/x");
		expect(link.getAttribute("target")).toBe("_blank");
		expect(link.getAttribute("rel")).toBe("noopener noreferrer");
	});

	test.each(["/api/contents", "file:///etc/passwd", ""])("[x](%s) is no link", (address) => {
		expect(render(`[x](${address}) <${address}>`).querySelector("[href]")).toBeNull();
	});
});

function depthOf(element: Element): number {
	return Math.max(0, ...[...element.children].map((child) => 1 + depthOf(child)));
}

describe("nesting", () => {
	const indented = (marker: string) =>
		Array.from({ length: 60 }, (_, level) => `${"   ".repeat(level)}${marker} level ${level}`).join("\n");
	const cases = [
		["quotes", "> ".repeat(3000), "> > > x"],
		["quotes without spaces", ">".repeat(3000), ">>>x"],
		["lists", `${indented("-")}\n\n`, "- level 59x"],
		["numbered lists", `${indented("7.")}\n\n`, "7. level 59x"],
		["emphasis", "_a *b ".repeat(500), ""],
		["struck out text", "~~a *b ".repeat(500), ""],
		["closed emphasis", `${"**a ".repeat(1000)}${"a**".repeat(1000)} `, ""],
		["links", "[a *b ".repeat(500), "[a *b x"],
		["formulas", "~~a $b *c ".repeat(500), ""],
		["paragraphs", "```a`\n".repeat(500), ""],
	] as const;
	test.each(cases)("%s end at a depth that browsers can lay out", (_, marks, end) => {
		for (const size of [marks.length, 97]) {
			const element = render(`${marks}x`, size);
			expect(depthOf(element)).toBeLessThanOrEqual(60);
			expect(element.textContent).toMatch(/x`?$/);
			expect(element.textContent).toContain(end);
		}
	});

	test("what follows is drawn as usual", () => {
		const element = render(`${">".repeat(50)}deep\n\nAn *end*.`);
		expect(element.lastElementChild?.outerHTML).toBe("<p>An <em>end</em>.</p>");
		expect(element.textContent).toContain(
			`${">".repeat(50 - element.querySelectorAll("blockquote").length)}deep`,
		);
	});

	test("a table and code fit in at the deepest level", () => {
		const quotes = "> ".repeat(18);
		const element = render(`${quotes}| a | \`b\` |\n${quotes}|---|---|\n`);
		expect(element.querySelector("th code")?.textContent).toBe("b");
	});
});

test("a fence that never closes is code to the end", () => {
	for (const size of [1, 100]) {
		expect(render("```py\nx = 1\n\n> y", size).innerHTML).toBe(
			'<pre class="py"><code>x = <span class="s">1</span>\n\n&gt; y</code></pre>',
		);
	}
});

describe("streaming", () => {
	const SAMPLE =
		"# Title\n\nSome **bold** and `code`.\n\n- one\n- two\n\n```py\nx = 1\n```\n\n1. first\n2. second\n\nEnd 🥖.";

	test("any fragmentation gives the same elements", () => {
		const whole = render(SAMPLE).innerHTML;
		for (const size of [1, 2, 3, 7]) expect(render(SAMPLE, size).innerHTML).toBe(whole);
		expect(render(SAMPLE).querySelector("pre")?.textContent).toContain("x = 1");
		expect(render(SAMPLE).querySelectorAll("li")).toHaveLength(4);
	});

	test("finished blocks are not parsed again, and their elements stay", () => {
		const parsed = vi.spyOn(ParserBlock.prototype, "parse");
		const charactersFor = (times: number): number => {
			parsed.mockClear();
			const element = document.createElement("div");
			const markdown = new Markdown(element);
			const text = `${SAMPLE}\n\n`.repeat(times);
			const firsts = new Set<Element | null>();
			for (let end = 200; end < text.length; end += 10) {
				markdown.set(text.slice(0, end), false);
				firsts.add(element.firstElementChild);
			}
			expect(firsts.size).toBe(1);
			return parsed.mock.calls.reduce((sum, [source]) => sum + source.length, 0);
		};
		expect(charactersFor(80) / charactersFor(20)).toBeLessThan(5);
	});

	test("a definition also counts for the text before it", () => {
		const text = "See [a].\n\nMore\n\ntext\n\n[a]: https://a.example\n";
		for (const size of [1, 5, 100]) {
			expect(render(text, size).querySelector("a")?.getAttribute("href")).toBe("https://a.example");
		}
	});

	test("a different text starts over", () => {
		const element = document.createElement("div");
		const markdown = new Markdown(element);
		markdown.set("first", false);
		markdown.set("second", true);
		expect(element.textContent).toBe("second");
		markdown.set("second and third", true);
		expect(element.textContent).toBe("second and third");
	});
});

describe("links with brackets", () => {
	const cases = [
		["[a](https://x.example/b_(c)) d", "https://x.example/b_(c)", "a d"],
		["[a](https://x.example/b_(c)#d), e", "https://x.example/b_(c)#d", "a, e"],
		["([a](https://x.example/((c)))) d", "https://x.example/((c))", "(a) d"],
		["([a](https://x.example/b)) d", "https://x.example/b", "(a) d"],
		["[a](https://x.example/b(c) d", undefined, "[a](https://x.example/b(c) d"],
	] as const;
	test.each(cases)("%s", (text, address, label) => {
		for (const size of [1, 2, 3, text.length]) {
			const element = render(text, size);
			expect(element.querySelector("a")?.getAttribute("href")).toBe(address);
			expect(element.textContent).toBe(label);
		}
	});
});

test("names with underscores are not emphasised", () => {
	expect(render("order_date and ship_date, total_price_usd", 3).innerHTML).toBe(
		"<p>order_date and ship_date, total_price_usd</p>",
	);
});

test("formulas keep their text and their dollars", () => {
	const text = "$\\alpha_1 * b_2 *$ and $$\\bar{x}$$, for $5 or $10";
	const [one, two] = ["$\\alpha_1 * b_2 *$", "$$\\bar{x}$$"].map(
		(formula) => `<span class="anb-math">${formula}</span>`,
	);
	expect(render(text, 3).innerHTML).toBe(`<p>${one} and ${two}, for $5 or $10</p>`);
	const lines = "$$\na_1\n- b_2 *\n$$";
	expect(render(`The mean:\n${lines}\n*then*`, 3).innerHTML).toBe(
		`<p>The mean:</p><p><span class="anb-math">${lines}</span></p><p><em>then</em></p>`,
	);
});

test("columns of a table are aligned", () => {
	const cells = render("| a | b | c |\n|---|:-:|--:|\n| 1 | 2 | 3 |").querySelectorAll<HTMLElement>("td");
	expect([...cells].map(({ style }) => style.textAlign)).toEqual(["", "center", "right"]);
});

test("code is coloured when its block is complete", () => {
	const element = document.createElement("div");
	const markdown = new Markdown(element);
	markdown.set("```python\nx = 1", false);
	expect(element.innerHTML).toBe('<pre class="py"><code>x = 1</code></pre>');
	markdown.set("```python\nx = 1\n```\n\nSo", false);
	expect(element.querySelector("code .s")?.textContent).toBe("1");
});
