// The queue of open questions, what was changed in a call, and how the transcript tells it.

import { describe, expect, test } from "vitest";
import { changedNames, sameJson } from "../src/base/json.ts";
import { momentAt } from "../src/run/moments.ts";
import { countAlike, questionsOf } from "../src/run/questions.ts";
import type { ToolRow } from "../src/run/state.ts";
import { Tape } from "../src/run/tape.ts";
import { toVariants } from "../src/run/variants.ts";
import { diffOf } from "../src/view/shared/diff-table.ts";
import { play, script, started, tool, turn } from "./events.ts";

const ask = (seq: number, args: object, more: object = {}) =>
	({ type: "approval_requested", call_id: "a", name: "order", title: "order", args, seq, ...more }) as const;

function variants(...questions: ReturnType<typeof ask>[]) {
	return toVariants(
		questions.map((question, number) => ({
			number,
			state: play(script(started, turn, tool("a"), question)),
			now: 0,
		})),
	);
}

describe("the queue", () => {
	test("goes by the order of the questions, over all variants", () => {
		const queue = questionsOf(variants(ask(9, {}), ask(4, {}), ask(6, {})));
		expect(queue.map(({ variant }) => variant)).toEqual([1, 2, 0]);
	});

	test("has together what is alike, but never code", () => {
		const one = { item: "tea", count: 1 };
		const queue = questionsOf(
			variants(ask(1, one), ask(2, { count: 1, item: "tea" }), ask(3, { item: "tea" })),
		);
		expect(queue.map(({ row }) => countAlike(queue, row))).toEqual([2, 2, 1]);
		const code = questionsOf(
			variants(ask(1, one, { identical_only: true }), ask(2, one, { identical_only: true })),
		);
		expect(countAlike(code, code[0]!.row)).toBe(1);
	});
});

test("arguments are compared by what they say", () => {
	expect(sameJson({ a: [1, { b: 2, c: 3 }] }, { a: [1, { c: 3, b: 2 }] })).toBe(true);
	expect(sameJson([1, 2], [2, 1])).toBe(false);
	expect(changedNames({ a: 1, b: [2], c: 3 }, { a: 1, b: [3], d: 4 })).toEqual(["b", "c", "d"]);
});

test("a diff of two texts has every line", () => {
	const signs = (before: string, after: string): string[] =>
		diffOf(before, after).map(({ sign, number, text }) => `${sign}${number} ${text}`);
	expect(signs("a\nb\nc\nd", "a\nB\nc\nd\ne")).toEqual([" 1 a", "-2 b", "+2 B", " 3 c", " 4 d", "+5 e"]);
	expect(signs("a\nx\nb\ny\nc", "a\nb\nc")).toEqual([" 1 a", "-2 x", " 2 b", "-4 y", " 3 c"]);
	expect(signs("same", "same")).toEqual([" 1 same"]);
	const long = Array.from({ length: 3000 }, (_, line) => `${line}`);
	expect(diffOf(long.join("\n"), long.toReversed().join("\n"))).toHaveLength(6000);
});

describe("the answer", () => {
	const resolved = (more: object) =>
		({ type: "approval_resolved", call_id: "a", approved: true, ...more }) as const;
	const rowAfter = (...answers: ReturnType<typeof resolved>[]): ToolRow => {
		const questions = answers.flatMap((answer) => [ask(4, { n: 1 }), answer]);
		return play(script(started, turn, tool("a"), ...questions)).rows.at(-1) as ToolRow;
	};

	test("with changes leaves both what was proposed and what ran", () => {
		const row = rowAfter(resolved({ note: "", by: "person", proposed: { n: 1 }, executed: { n: 2 } }));
		expect(row).toMatchObject({ args: { n: 2 }, answer: { by: "person", proposed: { n: 1 } } });
		const same = rowAfter(resolved({ note: "", by: "always", proposed: { n: 1 }, executed: { n: 1 } }));
		expect(same).toMatchObject({ args: { n: 1 }, answer: { by: "always", proposed: null } });
	});

	test("to a second question about a call keeps the changes of the first", () => {
		const changed = resolved({ note: "", by: "person", proposed: { n: 1 }, executed: { n: 2 } });
		const hosts = resolved({ note: "", by: "person", proposed: { n: 2 }, executed: { n: 2 } });
		expect(rowAfter(changed, hosts)).toMatchObject({ args: { n: 2 }, answer: { proposed: { n: 1 } } });
	});

	test.each([
		[{ approved: true }, "you approved"],
		[{ approved: true, by: "always" }, "approved, because you said always"],
		[{ approved: false, by: "function" }, "your function said no"],
		[{ approved: false, by: "nobody" }, "nobody was there to answer"],
		[{ approved: false, by: "stopped" }, "stopped before there was an answer"],
	])("%o is told in a replay as %s", (answer, label) => {
		const tape = new Tape();
		for (const event of script(ask(1, {}), resolved(answer))) tape.push(event);
		expect(momentAt({ tape, count: 2 })?.label).toBe(label);
	});
});
