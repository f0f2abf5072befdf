import { beforeEach, describe, expect, test } from "vitest";
import type { Batch, Item, Message, PackedBatch } from "../src/protocol.ts";
import { Store } from "../src/store.ts";
import { Unpacker } from "../src/unpack.ts";
import { piece, script, started, text, thinking, turn } from "./events.ts";

const whole = (events: Item[], last = events.length): Message => ({
	kind: "batch",
	run: "k",
	session: "s1",
	channel: 4,
	first: 1,
	last,
	events,
});

describe("packed batches", () => {
	let unpacker: Unpacker;
	const read = (...message: PackedBatch): Batch => unpacker.read(message) as Batch;

	beforeEach(() => {
		unpacker = new Unpacker();
	});

	test("words go on with the delta before", () => {
		unpacker.read(whole(script(started, turn, text("one "))));
		const batch = read(4, 4, 2, "two ", 7.5, "three");
		expect(batch).toMatchObject({ kind: "batch", run: "k", session: "s1", first: 4, last: 5 });
		expect(batch.events).toMatchObject([
			{ type: "text_delta", text: "two ", at: 2 },
			{ type: "text_delta", text: "three", at: 7.5 },
		]);
	});

	test("a file goes on where its text ended, in code points", () => {
		unpacker.read(whole(script(started, piece("a.html", 0, "🥖é"))));
		expect(read(4, 3, 1, "x").events).toMatchObject([{ path: "a.html", offset: 2, text: "x" }]);
		expect(read(4, 4, 1, "y").events).toMatchObject([{ offset: 3, text: "y" }]);
	});

	test("bare words go on in the channel that spoke last", () => {
		unpacker.read(whole(script(started, turn, text("one "))));
		expect(unpacker.read("2otwo ")).toMatchObject({ run: "k", first: 4, last: 5 });
		expect(unpacker.read("1athree")).toMatchObject({
			first: 6,
			last: 6,
			events: [{ type: "text_delta", text: "three", at: expect.closeTo(2.34) }],
		});
	});

	test("bare words after those of a stranger are the stranger's", () => {
		unpacker.read(whole(script(started, turn, text("one "))));
		expect(read(9, 40, 1, "x")).toEqual({ kind: "unknown", channel: 9 });
		expect(unpacker.read("10y")).toEqual({ kind: "unknown", channel: 9 });
	});

	test("each variant goes on by itself", () => {
		const other = { ...script(thinking("hm"))[0], variant: 1 } as Item;
		unpacker.read(whole([...script(started, text("a")), other]));
		expect(read(4, 4, 3, "m", [0, "b"], "c").events).toMatchObject([
			{ type: "thinking_delta", variant: 1, text: "m" },
			{ type: "text_delta", variant: 0, text: "b" },
			{ type: "text_delta", variant: 0, text: "c" },
		]);
	});

	test("a guess at the usage needs nothing before it", () => {
		unpacker.read(whole(script(started)));
		expect(read(4, 2, 1, [0, null, 12, 7]).events).toMatchObject([
			{ type: "usage_updated", cost: null, estimated: true, usage: { input: 12, output: 7, reasoning: 0 } },
		]);
	});

	test("a whole batch is a fresh start", () => {
		unpacker.read(whole(script(started, thinking("a"))));
		unpacker.read(whole(script(started, thinking("a"), text("b"))));
		expect(read(4, 4, 1, "c").events).toMatchObject([{ type: "text_delta", text: "c" }]);
	});
});

test("a page that came late asks whose the messages are", () => {
	const sent: Record<string, unknown>[] = [];
	const store = new Store((message) => sent.push(message));
	for (let first = 30; first < 40; first++) store.receive([9, first, 1, "word "]);
	expect(sent).toMatchObject([{ command: "resync", run: "#9" }]);
});
