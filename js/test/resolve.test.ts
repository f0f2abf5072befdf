import { describe, expect, test } from "vitest";
import { scripts } from "../src/page/feed.ts";
import { Resolver, resolvePath, type Source, writable } from "../src/page/resolve.ts";

const FILES: Record<string, string> = {
	"css/style.css": "@import 'more.css'; body { background: url(../img/a.png) }",
	"css/more.css": "p { color: red }",
	"app.js": 'import { x } from "./lib/x.js";',
	"lib/x.js": 'import "../app.js"; export const x = 1;',
};

const source: Source = {
	read(path) {
		if (path === "img/a.png") return { media_type: "image/png", base64: "AAAA" };
		const text = FILES[path];
		return text === undefined
			? null
			: { media_type: path.endsWith(".css") ? "text/css" : "text/javascript", text };
	},
};

describe("paths", () => {
	test.each([
		["style.css", "index.html", "style.css"],
		["./a/../b.css", "index.html", "b.css"],
		["../img/a.png", "css/style.css", "img/a.png"],
		["../../../x.css", "a/b.html", "x.css"],
		["/style.css", "deep/page.html", "style.css"],
		["a%20b.png?v=1#x", "index.html", "a b.png"],
	])("%s from %s is %s", (address, base, path) => expect(resolvePath(address, base)).toBe(path));

	test.each([
		"https://a.example/x.css",
		"//a.example/x",
		"data:,x",
		"#top",
		"",
		"mailto:a@b.example",
		"javascript:1",
	])("%s is not relative", (address) => expect(resolvePath(address, "index.html")).toBeNull());
});

describe("pages", () => {
	const resolve = (html: string): string => new Resolver(source, "index.html").html(html);

	test("images become data", () => {
		expect(resolve('<img alt=x src="img/a.png">')).toBe('<img alt=x src="data:image/png;base64,AAAA">');
		expect(resolve("<img src=img/a.png>")).toBe('<img src="data:image/png;base64,AAAA">');
		expect(resolve("<b style='background:url(img/a.png)'>")).toContain("data:image/png");
	});

	test("an address in a style keeps its quotes", () => {
		for (const [before, after] of [
			[`<b style="background:url('img/a.png')">`, `<b style="background:url('data:image/png;base64,AAAA')">`],
			[`<b style='background:url("img/a.png")'>`, `<b style='background:url("data:image/png;base64,AAAA")'>`],
			['<b style="background:url(img/a.png)">', '<b style="background:url(data:image/png;base64,AAAA)">'],
		] as const)
			expect(resolve(before)).toBe(after);
	});

	test("text in an address has no brackets or quotes", () => {
		FILES["pic.svg"] = "<svg a='b'>(x)</svg>";
		const inside = /url\((.*)\)/.exec(resolve("<style>b{background:url(pic.svg)}</style>"))?.[1] ?? "";
		expect(inside).not.toMatch(/[()'"\s]/);
	});

	test("every entry of a source set is resolved", () => {
		expect(resolve('<img srcset="img/a.png 1x, https://x.example/b.png 2x, img/a.png">')).toBe(
			'<img srcset="data:image/png;base64,AAAA 1x, https://x.example/b.png 2x, data:image/png;base64,AAAA">',
		);
	});

	test("style sheets carry what they use", () => {
		const address = /href="([^"]*)"/.exec(resolve('<link rel="stylesheet" href="css/style.css">'))?.[1] ?? "";
		const style = decodeURIComponent(address.slice(address.indexOf(",") + 1));
		expect(style).toContain("url(data:image/png;base64,AAAA)");
		expect(style).toContain('@import "data:text/css');
	});

	test("modules that import each other end", () => {
		expect(resolve('<script type="module" src="app.js"></script>')).toContain('src="data:text/javascript');
	});

	test("other sites and anchors stay", () => {
		const html =
			'<a href="about.html">x</a><img src="https://a.example/x.png"><script src="//a.example/y.js"></script>';
		expect(resolve(html)).toBe(html);
	});

	test("missing files are named, not fetched", () => {
		const resolver = new Resolver(source, "index.html");
		expect(resolver.html('<script src="gone.js"></script>')).toBe('<script src="data:,"></script>');
		expect(resolver.html('<img src="gone.png" alt="">')).toMatch(
			/^<img src="data:image\/svg\+xml,[^"']+" alt="">$/,
		);
		expect([...resolver.missing]).toEqual(["gone.js", "gone.png"]);
	});
});

test("unfinished tags and addresses wait", () => {
	expect(writable("<p>hello <im")).toBe(9);
	expect(writable("<p>hello")).toBe(8);
	expect(writable("a { background: url(im")).toBe(16);
	expect(writable("ab\ud83e")).toBe(2);
	expect(writable(`<${"x".repeat(5000)}`)).toBe(5001);
});

/** How the processor time grows with the size: 1 is linear, 2 is quadratic. Ends early where it is plainly more. */
function growthExponent(work: (size: number) => void): number {
	const took = new Map<number, number>();
	let large = 0;
	for (let size = 256; size <= 65536; size *= 2) {
		const rounds = [1, 2, 3, 4, 5].map(() => {
			const began = process.cpuUsage();
			work(size);
			return Math.max(process.cpuUsage(began).user / 1000, 0.02);
		});
		large = size;
		took.set(size, Math.min(...rounds));
		if ((took.get(size) ?? 0) > 500) break;
	}
	// What is quadratic takes seconds at this size; of less than this, the figures are mostly noise.
	if ((took.get(large) ?? 0) < 200) return 1;
	const small = Math.max(256, large / 16);
	return Math.log((took.get(large) ?? 0) / (took.get(small) ?? 0)) / Math.log(large / small);
}

describe("a hostile page takes linear time", () => {
	test.each([
		["index.html", "url(", " "],
		["index.html", "url(a", " "],
		["index.html", "url('a'", " "],
		["index.html", "", "url(a "],
		["index.html", "", "<img "],
		["index.html", "", "<img src='a.png' "],
		["index.html", "<img src=", " "],
		["index.html", "<img srcset=',", " "],
		["hostile.css", "", "@import  '"],
		["hostile.js", "import", " "],
	])("%s: %s then many '%s'", (name, begin, again) => {
		const exponent = growthExponent((size) => {
			FILES[name] = begin + again.repeat(size);
			const page = name === "index.html" ? FILES[name] : `<link href=${name}>`;
			new Resolver(source, "index.html").html(page);
		});
		expect(exponent).toBeLessThan(1.7);
	});
});

test("an address behind an unfinished one is found", () => {
	const resolver = new Resolver(source, "index.html");
	for (const page of ["url(x url(img/a.png)", "url(  url( 'img/a.png' )", "<img src=x\n<b>url(img/a.png)"])
		expect(resolver.html(page)).toContain("data:image/png");
	expect(resolver.html("<img src=img/a.png")).toBe("<img src=img/a.png");
});

test("style sheets that import each other many times end", () => {
	let reads = 0;
	const doubling: Source = {
		read(path) {
			reads += 1;
			const next = `${Number.parseInt(path, 10) + 1}.css`;
			return {
				media_type: "text/css",
				text: next === "41.css" ? "" : `@import "${next}"; @import "${next}";`,
			};
		},
	};
	const resolver = new Resolver(doubling, "index.html");
	expect(resolver.html("<link href=1.css>").length).toBeLessThan(100_000_000);
	expect(reads).toBeLessThan(1_000_000);
	expect(resolver.missing.size).toBeGreaterThan(0);
});

test("scripts are found once, ended or not", () => {
	expect(scripts("<p><script>a()</script><p><SCRIPT src=b></SCRIPT><p>")).toBe(
		"<script>a()</script>\n<SCRIPT src=b></SCRIPT>",
	);
	expect(scripts("<p><script <script <script ")).toBe("<script <script <script ");
});
