import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { showReplay } from "../src/replay-file.ts";
import type { Annotation, Event } from "../src/run/events.ts";
import { Tape } from "../src/run/tape.ts";
import { annotatedMoments } from "../src/view/replay/annotations.ts";
import { changed, done, finished, type Loose, script, started, text, tool, turn } from "./events.ts";
import { META, soon } from "./kernel.ts";

const EVENTS: Loose[] = [
	started,
	changed("given.css", 1, { call_id: null }),
	turn,
	tool(),
	changed("index.html", 1),
	done(),
	{ ...turn, step: 2 },
	changed("index.html", 2),
	text("Done."),
	finished(),
];

function note(at: number | string, more: Partial<Annotation> = {}): Annotation {
	return { at, text: "", ask: "", choices: [], answer: "", variant: 0, ...more };
}

function tapeOf(events: readonly Event[]): Tape {
	const tape = new Tape();
	for (const event of events) tape.push(event);
	return tape;
}

describe("the place of a note", () => {
	const tape = tapeOf(script(...EVENTS));
	const find = (...annotations: Annotation[]): number[][] =>
		annotatedMoments(annotations, 0, tape).map(({ count, time }) => [count, time]);

	test("is a turn, a change that the run has made, a time, or the end", () => {
		expect(find(note("turn 1"))).toEqual([[3, 2]]);
		expect(find(note("turn 2"))).toEqual([[7, 6]]);
		expect(find(note("change 1"))).toEqual([[5, 4]]);
		expect(find(note("change 2"))).toEqual([[8, 7]]);
		expect(find(note(4.5))).toEqual([[5, 4.5]]);
		expect(find(note("end"))).toEqual([[10, 9]]);
		const repeated = tapeOf(script(started, turn, turn, { ...turn, step: 2 }));
		expect(annotatedMoments([note("turn 2")], 0, repeated)[0]?.count).toBe(4);
	});

	test("is not before the replay begins, nor after it ends", () => {
		expect(find(note(0), note(99))).toEqual([
			[2, 1],
			[10, 9],
		]);
	});

	test("holds all notes of a moment, in the order of the run, without those of other variants", () => {
		const [late, early] = [note("turn 2", { text: "a" }), note(2)];
		const places = annotatedMoments([late, early, note(6, { text: "b" }), note(2, { variant: 1 })], 0, tape);
		expect(places.map(({ annotations }) => annotations.map(({ text }) => text))).toEqual([[""], ["a", "b"]]);
	});

	test("is found in a run without times, too", () => {
		const still = script(...EVENTS).map((event) => ({ ...event, at: 0, seconds: 0 }) as Event);
		expect(annotatedMoments([note("turn 2")], 0, tapeOf(still))[0]?.count).toBe(7);
	});
});

describe("a replay with notes", () => {
	const RIGHT = "It edits <b>it</b>";
	const QUESTION = { ask: "What is next?", choices: ["It stops", RIGHT] };
	let life: AbortController;
	let host: HTMLElement;
	let runs = 0;

	beforeEach(() => {
		localStorage.clear();
		life = new AbortController();
	});

	afterEach(() => {
		life.abort();
		vi.restoreAllMocks();
		vi.unstubAllGlobals();
	});

	async function show(annotations: Annotation[], digest = `d${++runs}`): Promise<void> {
		const events = script(...EVENTS).map(
			(event, index) => ({ ...event, at: index / 50, seconds: index / 50 }) as Event,
		);
		const meta = { ...META, digest, annotations };
		const batch = { kind: "batch" as const, run_id: "r", first: 1, last: events.length, events, meta };
		host = document.createElement("div");
		document.body.replaceChildren(host);
		showReplay(host, { batch, requests: { pool: [], turns: [] }, files: [], bound: [] }, life.signal);
		key("Home");
		await soon();
	}

	const one = <T extends HTMLElement>(selector: string): T => host.shadowRoot!.querySelector<T>(selector)!;
	const where = (): string => one(".anb-scrubber .label").textContent ?? "";
	const cards = (): string =>
		[...host.shadowRoot!.querySelectorAll(".cards:not([hidden]) .note")]
			.map((card) => card.textContent)
			.join();
	const choice = (name: string): HTMLElement =>
		[...host.shadowRoot!.querySelectorAll<HTMLElement>(".choices button")].find(
			(button) => button.textContent === name,
		)!;

	function key(key: string): void {
		one(".anb-scrubber .anb-range").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
	}

	async function press(name: string): Promise<void> {
		one(`[aria-label="${name}"]`).click();
		await soon();
	}

	/** Plays until the replay stands still. */
	async function play(): Promise<void> {
		one('[aria-label="Play"]').click();
		await settled();
	}

	/** Presses the button that has the focus after an answer. */
	async function goOn(): Promise<void> {
		await soon();
		const button = host.shadowRoot!.activeElement as HTMLElement;
		expect(button.textContent).toBe("Go on");
		button.click();
		await settled();
	}

	async function settled(): Promise<void> {
		await soon();
		await vi.waitFor(() => expect(one('[aria-label="Play"]')).not.toBeNull(), { timeout: 9000 });
		await soon();
	}

	test("shows each note when it comes to it", async () => {
		await show([note("turn 1", { text: "**First**" }), note("end", { text: "Last" })]);
		expect([one(".anb-noted .which").textContent, cards()]).toEqual(["2 notes", ""]);
		await press("Step forward");
		expect([one(".anb-noted .which").textContent, cards()]).toEqual(["Note 1 of 2", "First"]);
		expect(one(".cards strong").textContent).toBe("First");
		await press("Next note");
		expect([where(), cards()]).toEqual(["done", "Last"]);
		await press("Previous note");
		expect([where(), cards()]).toEqual(["turn 1: the request is sent", "First"]);
		expect(host.shadowRoot!.querySelectorAll(".marks .note").length).toBe(2);
		await play();
		expect(where()).toBe("done");
	});

	test("halts at a question until it is answered, and says what was expected", async () => {
		await show([note("turn 2", { ...QUESTION, answer: RIGHT })]);
		expect(one(".marks .note").classList).toContain("stop");
		await play();
		expect(where()).toBe("turn 2: the request is sent");
		await play();
		expect(host.shadowRoot!.activeElement).toBe(one(".cards"));
		one('[aria-label="Play"]').focus();
		await press("Step forward");
		expect(where()).toBe("turn 2: the request is sent");
		expect(host.shadowRoot!.activeElement).toBe(one(".cards"));
		choice("It stops").click();
		await soon();
		expect(cards()).toContain(`You chose: It stopsThe right answer is: ${RIGHT}`);
		expect(one(".marks .note").classList).not.toContain("stop");
		await goOn();
		expect(where()).toBe("done");
	});

	test("stays where it is after an answer that nobody judges", async () => {
		await show([note("turn 1", QUESTION)]);
		await press("Step forward");
		choice("It stops").click();
		await settled();
		expect([where(), cards()]).toEqual(["turn 1: the request is sent", "What is next?You chose: It stops"]);
		await press("Step forward");
		expect(where()).toBe("turn 1: the model calls any");
	});

	test("halts between two events, and once for all questions of a moment", async () => {
		await show([note(0.07, QUESTION), note(0.07, { ask: "Why?", choices: ["So", "No"] })]);
		await play();
		expect(one<HTMLInputElement>(".anb-scrubber .anb-range").value).toBe("0.07");
		choice("It stops").click();
		await soon();
		expect(one('[aria-label="Play"]')).not.toBeNull();
		choice("So").click();
		await goOn();
		expect(where()).toBe("done");
	});

	test("shows a question without choices, from an older file, as a note", async () => {
		await show([note("turn 2", { ask: "Why?", answer: "Because" }), note("end", { text: "Last" })]);
		await press("Next note");
		expect(cards()).toBe("Why?");
		await play();
		expect([where(), cards()]).toEqual(["done", "Last"]);
	});

	test("can be moved past a question with the slider", async () => {
		await show([note("turn 1", QUESTION), note("end", QUESTION)]);
		const range = one<HTMLInputElement>(".anb-scrubber .anb-range");
		range.value = "0.07";
		range.dispatchEvent(new Event("input"));
		await play();
		expect(where()).toBe("done");
		expect(cards()).toContain("What is next?");
	});

	test("remembers the answers of this file, and of no other", async () => {
		await show([note("turn 2", QUESTION)], "same");
		await press("Next note");
		choice(RIGHT).click();
		expect(localStorage.getItem("agent_nb.answer k same 0 turn 2 What is next?")).toBe(JSON.stringify(RIGHT));
		await show([note("turn 2", QUESTION)], "same");
		await play();
		expect(where()).toBe("done");
		await show([note("turn 2", QUESTION)], "other");
		await play();
		expect(where()).toBe("turn 2: the request is sent");
	});

	test("ignores what else is stored there", async () => {
		localStorage.setItem("agent_nb.answer k odd 0 turn 2 What is next?", '"It runs"');
		await show([note("turn 2", QUESTION)], "odd");
		await play();
		expect(where()).toBe("turn 2: the request is sent");
	});

	test("works where storage is forbidden", async () => {
		vi.stubGlobal("localStorage", {
			getItem() {
				throw new Error("forbidden");
			},
			setItem() {
				throw new Error("forbidden");
			},
		});
		await show([note("turn 2", QUESTION)]);
		await play();
		choice("It stops").click();
		await goOn();
		expect(where()).toBe("done");
	});
});
