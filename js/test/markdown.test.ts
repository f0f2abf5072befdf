import { describe, expect, test } from "vitest";
import { Markdown, safeLink } from "../src/markdown.ts";

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

const ALLOWED = "a blockquote br code em h5 h6 hr li ol p pre s span strong table td tr ul".split(" ");

test("an image is its text and its address, and is not loaded", () => {
	const element = render("See ![a chart](https://evil.example/pixel.png).");
	expect(element.querySelector("img")).toBeNull();
	expect(element.textContent).toBe("See a chart (image: https://evil.example/pixel.png).");
});

describe("safety", () => {
	test.each(ATTACKS)("%s stays text", (attack) => {
		for (const size of [attack.length, 1, 3]) {
			const element = render(attack, size);
			for (const child of element.querySelectorAll("*")) {
				expect(ALLOWED).toContain(child.localName);
				for (const { name, value } of child.attributes) {
					expect(["href", "target", "rel", "start"]).toContain(name);
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

	test("only web and mail addresses are links", () => {
		expect(safeLink("mailto:a@b.example")).toBe("mailto:a@b.example");
		for (const bad of [
			"javascript:1",
			" javascript:1",
			"data:text/html,x",
			"/api/contents",
			"file:///etc/passwd",
			"",
		]) {
			expect(safeLink(bad)).toBeNull();
		}
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
		["links", "[a *b ".repeat(500), "[a *b x"],
		["formulas", "~~a $b *c ".repeat(500), ""],
		["paragraphs", "```a`\n".repeat(500), ""],
	] as const;
	test.each(cases)("%s end at a depth that browsers can lay out", (_, marks, end) => {
		for (const size of [marks.length, 7]) {
			const element = render(`${marks}x`, size);
			expect(depthOf(element)).toBeLessThanOrEqual(23);
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
		expect(element.querySelector("td code")?.textContent).toBe("b");
	});
});

test("a fence that never closes is code to the end", () => {
	for (const size of [1, 100]) {
		expect(render("```py\nx = 1\n\n> y", size).innerHTML).toBe("<pre>x = 1\n\n&gt; y</pre>");
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
		["[a](https://x.example/b(c) d", "https://x.example/b(c", "a d"],
	] as const;
	test.each(cases)("%s", (text, address, label) => {
		for (const size of [1, 2, 3, text.length]) {
			const element = render(text, size);
			expect(element.querySelector("a")?.getAttribute("href")).toBe(address);
			expect(element.textContent).toBe(label);
		}
	});

	test("an endless address is given up", () => {
		const many = ")".repeat(3001);
		const element = render(`[a](https://x.example/${"(".repeat(3001)}${many}) b`);
		expect(element.querySelector("a")?.getAttribute("href")).toBe(`https://x.example/${"(".repeat(3001)}`);
		expect(element.textContent).toBe(`a${many} b`);
	});

	test("what is held back comes with the end", () => {
		expect(render("[a](https://x.example/b(c)d").textContent).toBe("ad");
		expect(render("[a](https://x.example/b(c)**d**").textContent).toBe("ad");
	});
});
