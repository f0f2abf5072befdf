import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Event } from "../src/run/events.ts";
import type { Batch } from "../src/run/protocol.ts";
import { Runs } from "../src/run/runs.ts";
import { finished, script, started, text, turn } from "./events.ts";
import { META } from "./kernel.ts";

const EVENTS = script(started, turn, text("one "), text("two "), text("three"), finished());

const READY = {
	kind: "ready" as const,
	line: "ready",
	variant: 0,
	picked: false,
	paths: [],
	digest: "d",
	again: "",
	others: [],
	failed_check: "",
	features: {},
	fix: null,
};

let sent: Record<string, unknown>[];
let runs: Runs;

beforeEach(() => {
	sent = [];
	runs = new Runs((message) => sent.push(message));
});

function batch(first: number, last: number, more: Partial<Batch> = {}): Batch {
	return {
		kind: "batch",
		run_id: "r1",
		first,
		last,
		events: EVENTS.slice(first - 1, last),
		...(first === 1 && { meta: META }),
		...more,
	};
}

function shownText(): string {
	const rows = runs.get("k").state?.variants.get(0)?.rows ?? [];
	return rows.map((row) => (row.kind === "text" ? row.text : "")).join("|");
}

describe("batches", () => {
	test("in order they add up", () => {
		runs.receive(batch(1, 3));
		runs.receive(batch(4, 6));
		expect(shownText()).toBe("one two three");
		expect(runs.get("k").state).toMatchObject({ have: 6, meta: META });
	});

	test("a run that was replaced stays away", () => {
		runs.receive(batch(1, 3, { run_id: "r0" }));
		runs.receive(batch(1, 4));
		runs.receive(batch(4, 5, { run_id: "r0" }));
		runs.receive(batch(1, 6, { run_id: "r0" }));
		expect(sent).toHaveLength(0);
		expect(runs.get("k").state).toMatchObject({ id: "r1", have: 4 });
	});

	test("a gap is asked for once", () => {
		runs.receive(batch(1, 2));
		runs.receive(batch(4, 4));
		runs.receive(batch(5, 5));
		expect(sent).toHaveLength(1);
		expect(sent[0]).toMatchObject({ command: "resync", run_id: "r1" });
		runs.receive(batch(1, 6));
		expect(shownText()).toBe("one two three");
	});

	test("a gap after an answered gap asks again", async () => {
		runs.receive(batch(1, 2));
		runs.receive(batch(4, 4));
		runs.receive({ kind: "answer", id: String(sent[0]!.id), ok: true });
		await Promise.resolve();
		runs.receive(batch(5, 5));
		expect(sent).toHaveLength(2);
	});

	test("a late page asks for everything, once", () => {
		runs.receive(batch(4, 5));
		runs.receive(batch(6, 6));
		expect(sent).toHaveLength(1);
		expect(sent[0]).toMatchObject({ command: "resync", run_id: "r1" });
		expect(runs.get("k").state).toBeNull();
		runs.receive(batch(1, 6));
		expect(shownText()).toBe("one two three");
	});

	test("a checkpoint with joined deltas doubles nothing", () => {
		runs.receive(batch(1, 3));
		const joined = script(started, turn, text("one two three")).map((event, index) => ({
			...event,
			seq: [1, 2, 5][index]!,
		}));
		runs.receive(batch(1, 5, { events: joined as Event[] }));
		expect(shownText()).toBe("one two three");
		runs.receive(batch(1, 4));
		expect(shownText()).toBe("one two three");
		runs.receive(batch(6, 6));
		expect(runs.get("k").state?.variants.get(0)?.busy).toBe(false);
	});

	test("another run of the key replaces it", () => {
		runs.receive(batch(1, 6));
		runs.receive({ ...READY, run_id: "r1" });
		runs.receive(batch(1, 3, { run_id: "r2" }));
		expect(shownText()).toBe("one ");
		expect(runs.get("k").state).toMatchObject({ id: "r2", have: 3, ready: null });
		runs.receive({ ...READY, run_id: "r1" });
		expect(runs.get("k").state?.ready).toBeNull();
	});
});

describe("commands", () => {
	test("hello is sent once and brings meta", async () => {
		const run = runs.get("k");
		runs.receive(batch(1, 3));
		run.hello();
		run.hello();
		expect(sent).toHaveLength(1);
		runs.receive({
			kind: "answer",
			id: String(sent[0]!.id),
			ok: true,
			run_id: "r1",
			meta: { ...META, number: 7 },
			last: 3,
		});
		await Promise.resolve();
		expect(run.state?.meta.number).toBe(7);
	});

	test("only the window that is asked looks at a page", async () => {
		const run = runs.get(META.key);
		run.hello();
		runs.receive({ kind: "answer", id: String(sent[0]!.id), ok: true, run_id: "r1", window: 1 });
		await Promise.resolve();
		runs.receive(batch(1, 3));
		const asked: unknown[] = [];
		runs.onCheck = (...what) => asked.push(what);
		const check = {
			kind: "check" as const,
			run_id: "r1",
			check_id: "1",
			variant: 0,
			path: "a.html",
			widths: [390],
		};
		runs.receive({ ...check, window: 2 });
		expect(asked).toEqual([]);
		const own = { ...check, window: 1 };
		runs.receive(own);
		expect(asked).toEqual([[run, own]]);
	});

	test("the run that the kernel names wins", async () => {
		const run = runs.get("k");
		runs.receive(batch(1, 3, { run_id: "new" }));
		runs.receive(batch(1, 4, { run_id: "old" }));
		run.hello();
		runs.receive({ kind: "answer", id: String(sent[0]!.id), ok: true, run_id: "new" });
		await Promise.resolve();
		runs.receive(batch(1, 3, { run_id: "new" }));
		runs.receive(batch(1, 5, { run_id: "old" }));
		expect(run.state).toMatchObject({ id: "new", have: 3 });
		runs.receive(batch(4, 6, { run_id: "new" }));
		expect(shownText()).toBe("one two three");
	});

	test("a refused hello may be sent again", async () => {
		const run = runs.get("k");
		run.hello();
		runs.receive({ kind: "answer", id: String(sent[0]!.id), ok: false, error: "unknown" });
		await Promise.resolve();
		expect(run.state).toBeNull();
		run.hello();
		expect(sent).toHaveLength(2);
	});

	test("a file is asked for once per version", async () => {
		runs.receive(batch(1, 1));
		const run = runs.get("k");
		const listener = vi.fn();
		run.subscribe(listener, new AbortController().signal);
		expect(run.content(0, "a.png", 1)).toBeNull();
		expect(run.content(0, "a.png", 1)).toBeNull();
		run.content(0, "a.png", 2);
		expect(sent.filter((message) => message.command === "file")).toHaveLength(2);
		runs.receive({ kind: "answer", id: String(sent[0]!.id), ok: true, base64: "AA==" });
		await vi.waitFor(() => expect(listener).toHaveBeenCalled());
		expect(run.content(0, "a.png", 1)).toMatchObject({ base64: "AA==" });
	});

	test("each variant has files of its own", async () => {
		runs.receive(batch(1, 1));
		const run = runs.get("k");
		run.content(0, "a.png", 1);
		run.content(1, "a.png", 1);
		const asked = sent.filter((message) => message.command === "file");
		expect(asked.map((message) => message.variant)).toEqual([0, 1]);
		runs.receive({ kind: "answer", id: String(asked[1]!.id), ok: true, base64: "AQ==" });
		await vi.waitFor(() => expect(run.content(1, "a.png", 1)).toMatchObject({ base64: "AQ==" }));
		expect(run.content(0, "a.png", 1)).toBeNull();
	});
});

test.each([
	[false, "the kernel was changed"],
	[true, "stopped"],
])("a run that its kernel interrupted as it ended says so, unless it had reported before", (ready, phase) => {
	const events = script(started, turn, text("one "), finished("interrupted"));
	runs.receive(batch(1, 4, { events }));
	if (ready) runs.receive({ ...READY, run_id: "r1" });
	runs.lose("the kernel was changed");
	expect(runs.get("k").state?.variants.get(0)?.phase).toEqual({ activity: phase });
});

describe("runs without an output", () => {
	const KEYS = Array.from({ length: 25 }, (_, number) => `key-${number}`);

	function finishAll(): void {
		for (const key of KEYS) {
			runs.receive(batch(1, 6, { run_id: `run of ${key}`, meta: { ...META, key, name: key } }));
			runs.receive({ ...READY, run_id: `run of ${key}` });
		}
	}

	const kept = (): string[] => KEYS.filter((key) => runs.get(key).state);

	test("only the last ones that were closed stay", () => {
		finishAll();
		const shown = new Set(KEYS);
		for (const key of [...KEYS].reverse()) {
			shown.delete(key);
			runs.close(runs.get(key), (run) => shown.has(run.key));
		}
		expect(kept()).toEqual(KEYS.slice(0, 20));
		expect([...runs.get("k").names()]).toEqual(KEYS);
	});

	test("those that are shown or under way stay as well", () => {
		finishAll();
		runs.receive(batch(1, 4));
		runs.receive(batch(1, 6, { run_id: "r9", meta: { ...META, key: "unsaved" } }));
		for (const key of KEYS) runs.close(runs.get(key), (run) => run.key === KEYS[0]);
		expect(kept()).toEqual([KEYS[0], ...KEYS.slice(5)]);
		expect(runs.get("k").state).toMatchObject({ have: 4 });
		expect(runs.get("unsaved").state).toMatchObject({ have: 6 });
	});

	test("a released run is asked for again, and is as old as before", async () => {
		const drawn = vi.fn();
		runs.onRun = drawn;
		runs.receive(batch(1, 6));
		runs.receive({ ...READY, run_id: "r1" });
		const run = runs.get("k");
		run.hello();
		runs.receive({ kind: "answer", id: String(sent[0]!.id), ok: true, run_id: "r1" });
		await Promise.resolve();
		const { since } = run;
		run.release();
		drawn.mockClear();
		runs.receive({ kind: "running_code", run_id: "r1", variants: [] });
		expect(drawn).not.toHaveBeenCalled();
		run.hello();
		expect(sent.filter(({ command }) => command === "hello")).toHaveLength(2);
		runs.receive(batch(1, 6));
		expect(shownText()).toBe("one two three");
		expect(run.since).toBe(since);
	});
});
