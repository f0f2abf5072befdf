import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { Event } from "../src/run/events.ts";
import { countAfter, momentAt, momentsOn } from "../src/run/moments.ts";
import { Runs } from "../src/run/runs.ts";
import { Tape } from "../src/run/tape.ts";
import { advanced } from "../src/view/replay/player.ts";
import {
	changed,
	done,
	finished,
	piece,
	play,
	script,
	started,
	text,
	thinking,
	tool,
	turn,
} from "./events.ts";
import { META, soon } from "./kernel.ts";

const USED = { type: "usage_updated" as const, usage: {}, cost: null, estimated: false };
const ENDED = { type: "turn_finished" as const, stop: "tool_use", usage: {}, model: "m" };
const READY = { type: "tool_ready" as const, call_id: "c1", title: "create a.html", args: {} };
const RUNNING = { type: "tool_running" as const, call_id: "c1", title: "create a.html" };
const RUN = script(
	started,
	turn,
	thinking("hm "),
	USED,
	thinking("yes"),
	tool(),
	piece("a.html", 0, "<p>"),
	piece("a.html", 3, "one"),
	READY,
	ENDED,
	RUNNING,
	changed("a.html", 1),
	done(),
	{ ...turn, step: 2 },
	text("Do"),
	text("ne."),
	finished(),
);

function record(events: readonly Event[]): Tape {
	const tape = new Tape();
	for (const event of events) tape.push(event);
	return tape;
}

/** A long run: `count` pieces of one file, a tenth of a second apart. */
function long(count: number): Event[] {
	const pieces = Array.from({ length: count }, (_, index) => ({
		...piece("a.html", index * 4, `${index}`.padStart(4, "0")),
		at: index / 10,
	}));
	return script({ ...started, at: 0 }, { ...tool(), at: 0 }, ...pieces);
}

describe("the state at an event", () => {
	test("is not stored for a replay that nobody opens", async () => {
		const runs = new Runs(() => {});
		const passed = long(300).map((event, index) => {
			const [first, meta] = [index + 1, META];
			runs.receive({ kind: "batch", run_id: "r", first, last: first, events: [event], meta });
			return new WeakRef(runs.get("k").state!.variants.get(0)!);
		});
		await soon();
		setFlagsFromString("--expose-gc");
		runInNewContext("gc")();
		expect(passed.filter((state) => state.deref()).length).toBe(1);
		expect(runs.get("k").tape(0).stateAt(200).files.get("a.html")?.draft?.text).toHaveLength(198 * 4);
	});

	test("is what the events before it add up to", () => {
		const events = long(300);
		const tape = record(events);
		for (const count of [1, 302, 64, 63, 65, 128, 2, 200, 201, 199])
			expect(tape.stateAt(count)).toEqual(play(events.slice(0, count)));
	});

	test("going forward grows the same draft", () => {
		const tape = record(long(300));
		const draft = (count: number) => tape.stateAt(count).files.get("a.html")?.draft;
		const [before, after, back] = [draft(70), draft(250), draft(70)];
		expect(after?.epoch).toBe(before?.epoch);
		expect(after?.text.startsWith(before?.text ?? "?")).toBe(true);
		expect(back).toEqual(before);
	});

	test("what did not change is shared", () => {
		const tape = record(RUN);
		const [one, other] = [tape.stateAt(14), tape.stateAt(15)];
		expect(other.rows[0]).toBe(one.rows[0]);
		expect(other.files.get("a.html")).toBe(one.files.get("a.html"));
	});
});

describe("moments", () => {
	test("pieces of one kind are one moment", () => {
		expect(momentsOn(record(RUN)).map((moment) => [moment.count, moment.label])).toEqual([
			[1, "Your prompt"],
			[2, "the request is sent"],
			[5, "the model thinks"],
			[6, "the model calls any"],
			[10, "the model writes a.html"],
			[11, "running: create a.html"],
			[13, "done: create a.html"],
			[14, "the request is sent"],
			[16, "the model writes"],
			[17, "done"],
		]);
	});

	test("they know their turn and what failed", () => {
		const tape = record(
			script(started, turn, tool(), done({ ok: false }), { ...turn, step: 2 }, text("No.")),
		);
		expect(momentsOn(tape).map((moment) => moment.turn)).toEqual([0, 1, 1, 1, 2, 2]);
		expect(
			momentsOn(tape)
				.filter((moment) => moment.failed)
				.map((moment) => moment.label),
		).toEqual(["failed: create"]);
	});

	test.each([
		["DENIED", "denied"],
		["STOPPED", "stopped"],
		["NOT_A_CALL", "stopped"],
	])("a call that ended as %s has not failed", (code, outcome) => {
		const moment = momentsOn(record(script(started, turn, tool(), done({ ok: false, code })))).at(-1);
		expect([moment?.label, moment?.failed]).toEqual([`${outcome}: create`, false]);
	});

	test("each note is a moment, named by its title", () => {
		const notes = ["One", "Two"].map((title) => ({ type: "note" as const, title, detail: "" }));
		const moments = momentsOn(record(script(started, turn, ...notes, tool(), done())));
		expect(moments.map((moment) => moment.label).slice(2, 4)).toEqual(["One", "Two"]);
	});

	test("next and previous go to the end of a moment", () => {
		const tape = record(RUN);
		expect([1, 2, 4, 13, 17].map((count) => countAfter({ tape, count }, 1))).toEqual([2, 5, 5, 14, 17]);
		expect([17, 14, 4, 2, 1].map((count) => countAfter({ tape, count }, -1))).toEqual([16, 13, 2, 1, 1]);
		expect(momentAt({ tape, count: 8 })?.label).toBe("the model writes a.html");
	});

	test("given files belong to the prompt", () => {
		const tape = record(script(started, changed("a.html", 1, { call_id: null, patch: [[0, 1, "x"]] }), turn));
		expect(momentsOn(tape).map((moment) => moment.count)).toEqual([2, 3]);
	});
});

describe("the clock", () => {
	test("a time finds the last event before it", () => {
		const tape = record(RUN);
		expect([-1, 0, 0.5, 1, 3.9, 16, 99].map((time) => tape.countAt(time))).toEqual([1, 1, 1, 2, 4, 17, 17]);
	});

	test("playing goes at the run's own pace", () => {
		const tape = record(RUN);
		expect(advanced(tape, 2.25, 0.5)).toBeCloseTo(2.75);
		expect(advanced(tape, 2.25, 3.5)).toBeCloseTo(5.75);
		expect(advanced(tape, 15, 9)).toBe(15);
	});

	test("a long wait is shortened", () => {
		const tape = record(script(started, { ...turn, at: 100 }, { ...finished(), at: 101, seconds: 101 }));
		expect(advanced(tape, 0, 1)).toBeCloseTo(50);
		expect(advanced(tape, 0, 2.5)).toBeCloseTo(100.5);
	});

	test("a run without times plays, too", () => {
		const tape = record(RUN.map((event) => ({ ...event, at: 0, ...("seconds" in event && { seconds: 0 }) })));
		expect(tape.seconds).toBeGreaterThan(0);
		expect(tape.countAt(tape.timeAt(5))).toBe(5);
		expect(tape.countAt(advanced(tape, 0, 0.2))).toBe(4);
	});

	test("a time before the previous one does not go back", () => {
		const tape = record(
			script({ ...started, at: 0 }, { ...turn, at: 5 }, { ...text("a"), at: 3 }, text("b")),
		);
		expect([1, 2, 3, 4].map((count) => tape.timeAt(count))).toEqual([0, 5, 5, 5]);
	});
});
