import { describe, expect, test, vi } from "vitest";
import { bytes, count, dollars, seconds } from "../src/base/format.ts";
import { newChoices } from "../src/view/choices.ts";
import { Lines } from "../src/view/result/code.ts";
import { createDiffTable, linesOfPatch, parseUnifiedDiff } from "../src/view/shared/diff-table.ts";
import { createClock } from "../src/view/shell/app.ts";
import { shownFile, shownPage } from "../src/view/shown.ts";
import { sectionsOf } from "../src/view/transcript/request.ts";
import { createPromptImages } from "../src/view/transcript/timeline.ts";
import { changed, piece, play, script, started, tool, turn } from "./events.ts";

describe("differences", () => {
	const signs = (lines: { sign: string; text: string }[]): string[] =>
		lines.map((line) => line.sign + line.text);

	test("a unified diff keeps its line numbers", () => {
		const lines = parseUnifiedDiff("--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@\n a\n-b\n+c\n+d\n e\n");
		expect(signs(lines)).toEqual(["@line 3", " a", "-b", "+c", "+d", " e"]);
		expect(lines.map((line) => line.number)).toEqual([null, 3, 4, 4, 5, 6]);
	});

	test("a patch shows only what changed", () => {
		const before = "a\nb\nc\nd\ne\nf\n.\ng\nh\ni\nj\nk";
		const lines = linesOfPatch(before, [
			[1, 2, "b"],
			[10, 1, "J\nJ2"],
		]);
		expect(signs(lines)).toEqual([
			"@line 1",
			" a",
			" b",
			"-c",
			" d",
			" e",
			" f",
			"@line 7",
			" g",
			" h",
			" i",
			"-j",
			"+J",
			"+J2",
			" k",
		]);
	});

	test("whole words are marked", () => {
		const table = createDiffTable(
			parseUnifiedDiff("@@ -1 +1 @@\n-color: var(--cta);\n+color: var(--crust);\n"),
		);
		expect([...table.querySelectorAll("mark")].map((mark) => mark.textContent)).toEqual(["--cta", "--crust"]);
	});
});

describe("the shown file", () => {
	const state = play(
		script(
			started,
			turn,
			tool(),
			piece("about.html", 0, "a"),
			changed("about.html", 1),
			piece("index.html", 0, "i", "c2"),
			changed("index.html", 1),
			piece("style.css", 0, "p{}", "c3"),
			changed("style.css", 1, { media_type: "text/css" }),
		),
	);

	test("the entry page is shown first", () =>
		expect(shownFile(state, newChoices())?.file.path).toBe("index.html"));

	test("a chosen style sheet keeps the page in view", () => {
		const choices = { ...newChoices(), file: "style.css" };
		expect(shownFile(state, choices)?.text).toBe("p{}");
		expect(shownPage(state, choices)?.file.path).toBe("index.html");
	});

	test("a page that is being written is shown", () => {
		const writing = play(script(piece("about.html", 0, "new", "c9")), state);
		expect(shownPage(writing, newChoices())).toMatchObject({ live: true, text: "new" });
	});

	test("an earlier moment shows every file as it was", () => {
		const edited = play(
			script(
				changed("index.html", 2, { patch: [[0, 1, "two"]] }),
				changed("style.css", 2, { action: "deleted", media_type: "text/css" }),
			),
			state,
		);
		const at = (moment: number | null, file: string | null = null) =>
			shownFile(edited, { ...newChoices(), moment, file })?.text;
		expect([null, 4, 3, 2].map((moment) => at(moment))).toEqual(["two", "two", "i", "i"]);
		expect([5, 4, 3].map((moment) => at(moment, "style.css"))).toEqual(["two", "p{}", "p{}"]);
		// Before there was an index.html.
		expect(at(1)).toBe("a");
	});

	test("files that the run was given are moment 0", () => {
		const given = changed("index.html", 3, { call_id: null, patch: [[0, 1, "given"]] });
		const later = play(script(started, given, turn, changed("index.html", 4, { patch: [[0, 1, "new"]] })));
		expect(later.changes).toBe(1);
		expect(shownFile(later, { ...newChoices(), moment: 0 })?.text).toBe("given");
	});
});

describe("code", () => {
	test("any fragmentation shows the same lines", () => {
		const text = Array.from({ length: 200 }, (_, index) => `line ${index}`).join("\n");
		const show = (size: number): number => {
			const lines = new Lines(document.createElement("div"));
			for (let at = 0; at < text.length; at += size) lines.append(text.slice(at, at + size));
			const blocks = [...lines.element.children];
			expect(lines.element.textContent).toBe(text);
			const starts = blocks.map((block) => (block.firstChild as HTMLElement).style.counterSet);
			expect(starts).toEqual(["line 1", "line 81", "line 161"]);
			return blocks.flatMap((block) => [...block.children]).length;
		};
		for (const size of [text.length, 1, 7, 1000]) expect(show(size)).toBe(200);
	});
});

test("numbers are written as people read them", () => {
	expect([seconds(3.14), seconds(125), count(950), count(1234), count(44_100)]).toEqual([
		"3.1 s",
		"2 min 5 s",
		"950",
		"1.2k",
		"44k",
	]);
	expect([bytes(12), bytes(6412), bytes(2_500_000), dollars(0.0031), dollars(1.5)]).toEqual([
		"12 B",
		"6.4 kB",
		"2.5 MB",
		"$0.003",
		"$1.50",
	]);
});

describe("given images", () => {
	const shot = { name: "shot.png", width: 640, height: 400, data: "QUJD" };

	test("are drawn with a text alternative", () => {
		const images = [shot, { ...shot, name: "", data: "" }];
		const { images: kept } = play(script({ ...started, images }));
		const view = createPromptImages();
		view.update(kept);
		const [first, second] = view.element.querySelectorAll("figure");
		expect(first?.querySelector("img")?.alt).toBe("shot.png (640 x 400)");
		expect(first?.querySelector("img")?.src).toBe("data:image/jpeg;base64,QUJD");
		expect(second?.querySelector("img")).toBeNull();
		expect(second?.textContent).toBe("image 2");
		expect(view.element.hidden).toBe(false);
	});

	test("take no room where there are none", () => {
		const view = createPromptImages();
		view.update(play(script(started)).images);
		expect(view.element.hidden).toBe(true);
	});
});

test("a request says that its conversation was compacted", () => {
	const request = { model: "m", system: "", messages: [], tools: [], settings: {} };
	const compacted = { detail: "about 133k tokens before, 12.1k now" };
	expect(sectionsOf({ ...request, compacted }, 0, "{}")[0]?.textContent).toBe(
		"The conversation was compacted for this turn: about 133k tokens before, 12.1k now.",
	);
	expect(sectionsOf(request, 0, "{}")[0]?.textContent).toContain("System text");
});

test("a variant's clock stops while its question is open", () => {
	vi.useFakeTimers({ toFake: ["performance"] });
	const clock = createClock();
	const running = play(script(started, tool()));
	const ask = {
		type: "approval_requested",
		call_id: "c1",
		name: "any",
		title: "run",
		args: {},
		at: 1,
	} as const;
	const asking = play(script(ask), running);
	const answer = { type: "approval_resolved", call_id: "c1", approved: true, note: "", at: 1 } as const;
	const answered = play(script(answer), asking);
	const times = [running, asking, answered].map((state) => {
		const first = clock(0, state);
		vi.advanceTimersByTime(2000);
		return clock(0, state) - first;
	});
	expect(times).toEqual([2, 0, 2]);
	expect(clock(0, answered)).toBe(3);
	expect(clock(1, running)).toBe(1);
	vi.useRealTimers();
});
