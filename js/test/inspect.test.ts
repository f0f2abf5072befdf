import { describe, expect, test } from "vitest";
import { pathOf, stepsInSource } from "../src/inspect/inspector.ts";
import { type PathStep, readMatch } from "../src/inspect/messages.ts";
import { wordsFor } from "../src/inspect/words.ts";

const BODY: PathStep = ["body", 1, 1];
const BOX = [0, 0, 10, 10];

describe("what a page says about an element", () => {
	test("is a short way of tags and numbers, or nothing", () => {
		const found = { steps: [BODY, ["x-card", 2, 3]], box: BOX };
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
			expect(readMatch({ steps: [BODY, step], box: BOX })).toBeNull();
		expect(readMatch({ steps: [], box: BOX })).toBeNull();
		expect(readMatch({ steps: Array.from({ length: 61 }, () => BODY), box: BOX })).toBeNull();
		expect(readMatch({ steps: [BODY], box: [0, 0, Number.NaN, 1] })).toBeNull();
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
