import { afterEach, describe, expect, test, vi } from "vitest";
import { h } from "../src/base/dom.ts";
import { type PathStep, readMatch } from "../src/page/inspect/messages.ts";
import { wordsFor } from "../src/run/words.ts";
import { newChoices } from "../src/view/choices.ts";
import type { Context, Snapshot } from "../src/view/context.ts";
import { createInspectButton, pathOf, stepsInSource } from "../src/view/inspect/inspector.ts";
import { changed, finished, piece, play, script, started, turn } from "./events.ts";

const BODY: PathStep = ["body", 1, 1];
const BOX = [0, 0, 10, 10];

describe("what a page says about an element", () => {
	test("is a short way of tags and numbers, or nothing", () => {
		const found = { steps: [BODY, ["x-card", 2, 3]], box: BOX, selected: [BOX] };
		expect(readMatch(found)).toEqual(found);
		for (const step of [
			["h2"],
			['h2")}}', 1, 1],
			["H2", 1, 1],
			["h2", 0, 1],
			["h2", 2, 1],
			["h2", 1.5, 2],
			"h2",
		])
			expect(readMatch({ ...found, steps: [BODY, step] })).toBeNull();
		expect(readMatch({ ...found, steps: [] })).toBeNull();
		expect(readMatch({ ...found, steps: Array.from({ length: 61 }, () => BODY) })).toBeNull();
		expect(readMatch({ ...found, box: [0, 0, Number.NaN, 1] })).toBeNull();
		for (const selected of [BOX, [[0, 0, 1]], Array.from({ length: 1001 }, () => BOX)])
			expect(readMatch({ ...found, selected })).toBeNull();
		expect(readMatch(null)).toBeNull();
	});
});

test("an element is called what a user calls it", () => {
	const places = [
		["h1", "1 of 1"],
		["h2", "2 of 3"],
		["p", "4 of 9"],
		["section"],
		["x-card", "1 of 1"],
	] as const;
	expect(places.map(([tag, place]) => wordsFor(tag, place))).toEqual([
		"the heading",
		"h2 heading 2 of 3",
		"paragraph 4 of 9",
		"section",
		"the x-card",
	]);
});

describe("an element in the source", () => {
	const SOURCE = "<main><h2>One</h2><h2>Two</h2><ul></ul></main>";
	const MAIN: PathStep = ["main", 1, 1];

	test("is found by the same steps", () => {
		const steps: PathStep[] = [BODY, MAIN, ["h2", 2, 2]];
		expect(stepsInSource(SOURCE, steps)).toEqual(steps);
		expect(pathOf(steps)).toBe("body > main > h2:nth-of-type(2)");
	});

	test("is as near as a script has left the page like its source", () => {
		expect(stepsInSource(SOURCE, [BODY, MAIN, ["ul", 1, 1], ["li", 1, 3]])).toHaveLength(3);
		expect(stepsInSource(SOURCE, [BODY, MAIN, ["h2", 2, 3]])).toHaveLength(2);
		expect(pathOf([])).toBe("html");
	});
});

describe("the outlines of elements that the user has selected", () => {
	const PAGE = "<h1>One</h1><p>Two</p>";
	const life = new AbortController();
	afterEach(() => life.abort());

	/** The button over a preview whose page answers as a test says. */
	function create() {
		const events = script(started, turn, piece("index.html", 0, PAGE), changed("index.html", 1), finished());
		const state = play(events);
		const choices = newChoices();
		const command = () => Promise.resolve({ ok: false });
		const run = { state: { variants: new Map([[0, state]]), ready: null, lost: "" }, busy: false, command };
		const view = { choices, run, signal: life.signal, redraw: draw, draw, announce() {} };
		const element = h("div", null, h("iframe"));
		document.body.replaceChildren(h("section", { class: "anb-frame" }, element));
		let page: MessagePort | undefined;
		const asked: unknown[] = [];
		const preview = {
			element,
			run(_code: string, given: { port: MessagePort }) {
				page = given.port;
				page.onmessage = ({ data }) => asked.push(data);
			},
		};
		const button = createInspectButton(view as unknown as Context, preview);
		function draw(): void {
			button.update({ state } as Snapshot);
		}
		draw();
		button.element.click();
		const layer = element.querySelector<HTMLElement>(".anb-inspect")!;
		return {
			choices,
			asked,
			draw,
			press: (init: KeyboardEventInit) => {
				const event = new KeyboardEvent("keydown", init);
				layer.dispatchEvent(Object.defineProperty(event, "isTrusted", { value: true }));
			},
			async answer(tag: string, selected: number[][] = []): Promise<void> {
				page?.postMessage({ steps: [BODY, [tag, 1, 1]], box: [0, 10, 20, 30], selected });
				const name = element.querySelector(".anb-outline");
				await vi.waitFor(() => expect(name?.textContent).toBe(`${tag} 20 × 30`));
			},
			tops: () =>
				[...element.querySelectorAll<HTMLElement>(".anb-selected:not([hidden])")].map(
					({ style }) => style.top,
				),
		};
	}

	test("stay and follow the page until their notes are gone", async () => {
		const { choices, asked, draw, press, answer, tops } = create();
		press({ key: "ArrowDown" });
		await answer("h1");
		press({ key: "Enter", shiftKey: true });
		press({ key: "ArrowRight" });
		await answer("p", [[0, 10, 20, 30]]);
		press({ key: "Enter", shiftKey: true });
		expect(choices.ask.notes.map(({ elements }) => elements.map(({ path }) => path))).toEqual([
			["body > h1", "body > p"],
		]);
		expect(tops()).toEqual(["10px", "10px"]);
		await answer("p", [
			[0, 1, 20, 30],
			[0, 2, 20, 30],
		]);
		await vi.waitFor(() => expect(tops()).toEqual(["1px", "2px"]));
		const selections = () => asked.filter((query) => "select" in (query as object));
		await vi.waitFor(() => expect(selections()).toHaveLength(2));
		press({ key: "Escape" });
		draw();
		expect(tops()).toEqual(["1px", "2px"]);
		choices.ask.notes = [];
		draw();
		expect(tops()).toEqual([]);
	});
});
