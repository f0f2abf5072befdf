import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Event } from "../src/events.ts";
import type { Batch } from "../src/protocol.ts";
import { Store } from "../src/store.ts";
import { outcome } from "../src/view/context.ts";
import { finished, script, started, text, turn } from "./events.ts";
import { META } from "./kernel.ts";

const EVENTS = script(started, turn, text("one "), text("two "), text("three"), finished());

let sent: Record<string, unknown>[];
let store: Store;

beforeEach(() => {
	sent = [];
	store = new Store((message) => sent.push(message));
});

function batch(first: number, last: number, more: Partial<Batch> = {}): Batch {
	return {
		kind: "batch",
		run: "k",
		session: "s1",
		first,
		last,
		events: EVENTS.slice(first - 1, last),
		...more,
	};
}

function words(): string {
	const rows = store.run("k").state?.variants.get(0)?.rows ?? [];
	return rows.map((row) => (row.kind === "text" ? row.text : "")).join("|");
}

describe("batches", () => {
	test("in order they add up", () => {
		store.receive(batch(1, 3, { meta: META }));
		store.receive(batch(4, 6));
		expect(words()).toBe("one two three");
		expect(store.run("k").state).toMatchObject({ have: 6, meta: META });
	});

	test("a session that was replaced stays away", () => {
		store.receive(batch(1, 3, { session: "s0" }));
		store.receive(batch(1, 4));
		store.receive(batch(4, 5, { session: "s0" }));
		store.receive(batch(1, 6, { session: "s0" }));
		expect(sent).toHaveLength(0);
		expect(store.run("k").state).toMatchObject({ session: "s1", have: 4 });
	});

	test("a gap is asked for once", () => {
		store.receive(batch(1, 2));
		store.receive(batch(4, 4));
		store.receive(batch(5, 5));
		expect(sent).toHaveLength(1);
		expect(sent[0]).toMatchObject({ command: "resync", run: "k", session: "s1" });
		store.receive(batch(1, 6));
		expect(words()).toBe("one two three");
	});

	test("a gap after an answered gap asks again", async () => {
		store.receive(batch(1, 2));
		store.receive(batch(4, 4));
		store.receive({ kind: "answer", id: String(sent[0]!.id), ok: true });
		await Promise.resolve();
		store.receive(batch(5, 5));
		expect(sent).toHaveLength(2);
	});

	test("a late page asks for everything", () => {
		store.receive(batch(4, 5));
		expect(sent[0]).toMatchObject({ command: "resync", run: "k" });
		expect(store.run("k").state).toBeNull();
	});

	test("a checkpoint with merged deltas doubles nothing", () => {
		store.receive(batch(1, 3));
		const merged = script(started, turn, text("one two three")).map((event, index) => ({
			...event,
			seq: [1, 2, 5][index]!,
		}));
		store.receive(batch(1, 5, { events: merged as Event[] }));
		expect(words()).toBe("one two three");
		store.receive(batch(1, 4));
		expect(words()).toBe("one two three");
		store.receive(batch(6, 6));
		expect(store.run("k").state?.variants.get(0)?.busy).toBe(false);
	});

	test("another session replaces the run", () => {
		store.receive(batch(1, 6, { meta: META }));
		store.receive({ kind: "ready", run: "k", session: "s1", line: "ready" });
		store.receive(batch(1, 3, { session: "s2" }));
		expect(words()).toBe("one ");
		expect(store.run("k").state).toMatchObject({ session: "s2", have: 3, ready: null });
		store.receive({ kind: "ready", run: "k", session: "s1", line: "old" });
		expect(store.run("k").state?.ready).toBeNull();
	});

	test("variants are kept apart", () => {
		const events = EVENTS.slice(0, 3).flatMap((event) => [event, { ...event, variant: 1 }]);
		store.receive(batch(1, 6, { events: events as Event[] }));
		expect([...store.run("k").state!.variants.keys()]).toEqual([0, 1]);
	});
});

describe("commands", () => {
	test("hello is said once and brings owner and meta", async () => {
		const run = store.run("k");
		run.hello();
		run.hello();
		expect(sent).toHaveLength(1);
		store.receive({
			kind: "answer",
			id: String(sent[0]!.id),
			ok: true,
			session: "s1",
			meta: META,
			owner: false,
			last: 3,
		});
		await Promise.resolve();
		store.receive(batch(1, 3));
		expect(run.state).toMatchObject({ owner: false });
	});

	test("each session is greeted, and has its own owner", async () => {
		const run = store.run("k");
		run.hello();
		store.receive({ kind: "answer", id: String(sent[0]!.id), ok: true, session: "s1", owner: false });
		await Promise.resolve();
		store.receive(batch(1, 3));
		expect(run.state?.owner).toBe(false);
		store.receive(batch(1, 2, { session: "s2" }));
		expect(run.state?.owner).toBe(true);
		run.hello();
		run.hello();
		expect(sent.map((message) => message.command)).toEqual(["hello", "hello"]);
	});

	test("the session that the kernel names wins", async () => {
		const run = store.run("k");
		store.receive(batch(1, 3, { session: "new" }));
		store.receive(batch(1, 4, { session: "old" }));
		run.hello();
		store.receive({ kind: "answer", id: String(sent[0]!.id), ok: true, session: "new" });
		await Promise.resolve();
		store.receive(batch(1, 3, { session: "new" }));
		store.receive(batch(1, 5, { session: "old" }));
		expect(run.state).toMatchObject({ session: "new", have: 3 });
		store.receive(batch(4, 6, { session: "new" }));
		expect(words()).toBe("one two three");
	});

	test("a refused hello may be said again", async () => {
		const run = store.run("k");
		run.hello();
		store.receive({ kind: "answer", id: String(sent[0]!.id), ok: false, error: "unknown" });
		await Promise.resolve();
		expect(run.state).toBeNull();
		run.hello();
		expect(sent).toHaveLength(2);
	});

	test("a file is asked for once per version", async () => {
		store.receive(batch(1, 1));
		const run = store.run("k");
		const told = vi.fn();
		run.subscribe(told, new AbortController().signal);
		expect(run.content(0, "a.png", 1)).toBeNull();
		expect(run.content(0, "a.png", 1)).toBeNull();
		run.content(0, "a.png", 2);
		expect(sent.filter((message) => message.command === "file")).toHaveLength(2);
		store.receive({ kind: "answer", id: String(sent[0]!.id), ok: true, base64: "AA==" });
		await vi.waitFor(() => expect(told).toHaveBeenCalled());
		expect(run.content(0, "a.png", 1)).toMatchObject({ base64: "AA==" });
	});

	test("each variant has files of its own", async () => {
		store.receive(batch(1, 1));
		const run = store.run("k");
		run.content(0, "a.png", 1);
		run.content(1, "a.png", 1);
		const asked = sent.filter((message) => message.command === "file");
		expect(asked.map((message) => message.variant)).toEqual([0, 1]);
		store.receive({ kind: "answer", id: String(asked[1]!.id), ok: true, base64: "AQ==" });
		await vi.waitFor(() => expect(run.content(1, "a.png", 1)).toMatchObject({ base64: "AQ==" }));
		expect(run.content(0, "a.png", 1)).toBeNull();
	});

	test("an answer in time is the outcome", async () => {
		const reply = store.run("k").command("stop");
		store.receive({ kind: "answer", id: String(sent[0]!.id), ok: false, error: "It has ended." });
		expect(await outcome(reply, "hint")).toEqual({ done: false, why: "It has ended." });
	});

	test("no answer in time names the other way", async () => {
		vi.useFakeTimers();
		const result = outcome(store.run("k").command("stop"), "Press the other button.");
		vi.advanceTimersByTime(1000);
		expect(await result).toEqual({
			done: false,
			why: "Press the other button.",
		});
		vi.useRealTimers();
	});
});
