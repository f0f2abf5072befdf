// The replay of a finished run: a slim bar that plays it, halts it anywhere and steps through it. While it is open,
// everything else shows the run as it was then.
//
// A step is a moment, not an event: all that the model says, thinks or writes in one go counts as one, so that a
// class sees one thing happen per key. Shift with an arrow goes by single events.

import { h, icon, setAttribute, setText } from "../dom.ts";
import { seconds } from "../format.ts";
import { type IconName, paths } from "../icons.ts";
import type { Beat, Tape } from "../replay.ts";
import type { Replay } from "../ui.ts";
import type { Context, Moment } from "./context.ts";
import { iconButton } from "./result.ts";

const SPEEDS = [0.5, 1, 2, 4];
/** A page that was hidden goes on where it was, not where it would be. */
const LONGEST_FRAME = 100;

/** The way in, in the header of a run that has ended. */
export function createReplayButton(context: Context) {
	const element = h(
		"button",
		{
			class: "anb-btn anb-replay",
			type: "button",
			"aria-label": "Replay",
			title: "Replay the run step by step",
		},
		icon("replay"),
		h("span", null, "Replay"),
	);
	element.addEventListener(
		"click",
		() => {
			if (context.choices.replay) leave(context);
			else open(context);
		},
		{ signal: context.signal },
	);
	return {
		element,
		update(moment: Moment) {
			element.hidden = !canReplay(context, moment);
			setAttribute(element, "aria-expanded", String(context.choices.replay !== null));
		},
	};
}

/** One variant at a time, once it has ended, if the model was asked anything. */
function canReplay({ run, choices }: Context, moment: Moment): boolean {
	const alone = moment.options.length === 1 || choices.arrangement === "one";
	const state = moment.run.variants.get(choices.variant);
	return alone && state?.busy === false && state.turns.length > 0 && run.tape(choices.variant) !== undefined;
}

function open({ run, choices, redraw }: Context): void {
	const tape = run.tape(choices.variant);
	if (!tape) return;
	const count = tape.beats[0]?.count ?? 1;
	choices.replay = { tape, count, time: tape.timeAt(count), playing: false, speed: 1 };
	Object.assign(choices, { file: null, version: null });
	redraw();
}

function leave({ choices, redraw }: Context): void {
	Object.assign(choices, { replay: null, request: null });
	redraw();
}

export function createScrubber(context: Context) {
	const { choices, signal } = context;
	const player = createPlayer(context);
	const slider = createSlider((time) => player.seek(time));
	const back = iconButton(context, "stepBack", "Step back", () => player.step(-1));
	const play = iconButton(context, "play", "Play", () => player.toggle());
	const forth = iconButton(context, "stepForth", "Step forward", () => player.step(1));
	const words = h("span", { class: "words" });
	const clock = h("span", { class: "num mut clock" });
	const speed = createSpeed(context);
	const request = h("button", { class: "anb-btn sm", type: "button" }, "Request");
	const close = iconButton(context, "cross", "Leave the replay", () => finish());
	const spoken = h("span", { class: "anb-sr", role: "status", "aria-live": "polite" });
	const element = h(
		"div",
		{ class: "anb-scrub", role: "group", "aria-label": "Replay", hidden: true },
		h("div", { class: "keys" }, back, play, forth),
		slider.element,
		words,
		clock,
		speed,
		request,
		close,
		spoken,
	);
	let shown = choices.replay !== null;

	function finish(): void {
		leave(context);
		element.closest(".anb-frame")?.querySelector<HTMLElement>(".anb-replay")?.focus();
	}

	request.addEventListener(
		"click",
		() => {
			if (!choices.replay) return;
			choices.replay.playing = false;
			choices.request = Math.max(1, stepOf(choices.replay));
			context.redraw();
		},
		{ signal },
	);
	element.addEventListener(
		"keydown",
		(event) => {
			const act = actionOf(event, player, finish);
			if (!act) return;
			event.preventDefault();
			event.stopPropagation();
			act();
		},
		{ signal },
	);

	return {
		element,
		update(moment: Moment) {
			follow(context, moment);
			const { replay } = choices;
			element.hidden = replay === null;
			if (replay) draw(replay);
			if (replay && !shown) slider.focus();
			shown = replay !== null;
		},
	};

	function draw(replay: Replay): void {
		const { tape, count, time, playing } = replay;
		const beat = tape.beatAt(count);
		const told = wordsOf(beat);
		slider.update(replay, told);
		setText(words, told);
		setAttribute(words, "title", told);
		setText(clock, `${time.toFixed(1)} / ${seconds(tape.seconds)}`);
		press(play, playing ? "halt" : "play", playing ? "Pause" : "Play");
		// Not `disabled`: a button that has the focus would lose it, and the keys with it.
		setAttribute(back, "aria-disabled", count <= startOf(replay) ? "true" : null);
		setAttribute(forth, "aria-disabled", count >= tape.length ? "true" : null);
		setAttribute(request, "aria-label", `Request of turn ${Math.max(1, stepOf(replay))}`);
		request.hidden = !tape.beats.some((one) => one.kind === "turn");
		// While it plays, nobody wants every moment read aloud.
		if (!playing) setText(spoken, shown ? told : "");
	}
}

/** Another variant is scrubbed from the same time; a new run, or all variants at once, end the replay. */
function follow(context: Context, moment: Moment): void {
	const { choices, run } = context;
	const { replay } = choices;
	const tape = run.tape(choices.variant);
	if (!replay || (replay.tape === tape && canReplay(context, moment))) return;
	if (!tape || !canReplay(context, moment)) {
		leave(context);
		return;
	}
	Object.assign(replay, { tape, count: tape.countAt(replay.time), playing: false });
	context.redraw();
}

interface Player {
	toggle(): void;
	/** By moments, or by single events. */
	step(by: 1 | -1, single?: boolean): void;
	seek(time: number): void;
	jump(to: "start" | "end"): void;
}

function createPlayer(context: Context): Player {
	const { choices, signal } = context;
	let frame = 0;
	let last = 0;
	if (choices.replay) choices.replay.playing = false;
	signal.addEventListener("abort", () => cancelAnimationFrame(frame), { once: true });

	function move(now: number): void {
		const { replay } = choices;
		if (!replay?.playing || signal.aborted) return;
		const elapsed = Math.min(now - last, LONGEST_FRAME) / 1000;
		last = now;
		replay.time = replay.tape.advance(replay.time, elapsed * replay.speed);
		replay.count = Math.max(replay.count, replay.tape.countAt(replay.time));
		replay.playing = replay.count < replay.tape.length;
		context.redraw();
		frame = requestAnimationFrame(move);
	}

	function go(count: (replay: Replay) => number, time?: number): void {
		const { replay } = choices;
		if (!replay) return;
		replay.playing = false;
		replay.count = Math.min(Math.max(1, count(replay)), replay.tape.length);
		replay.time = time ?? replay.tape.timeAt(replay.count);
		// Who reads requests and steps on, reads on.
		if (choices.request !== null) choices.request = Math.max(1, stepOf(replay));
		context.redraw();
	}

	return {
		toggle() {
			const { replay } = choices;
			if (!replay) return;
			const playing = !replay.playing;
			if (playing && replay.count >= replay.tape.length) go(startOf);
			replay.playing = playing;
			if (playing) choices.request = null;
			last = performance.now();
			cancelAnimationFrame(frame);
			if (playing) frame = requestAnimationFrame(move);
			context.redraw();
		},
		step(by, single = false) {
			if (single) go(({ count }) => count + by);
			else go(({ tape, count }) => (by > 0 ? tape.next(count) : tape.previous(count)));
		},
		seek: (time) => go(({ tape }) => tape.countAt(time), time),
		jump: (to) => go(to === "end" ? ({ tape }) => tape.length : startOf),
	};
}

function startOf({ tape }: Replay): number {
	return tape.beats[0]?.count ?? 1;
}

/** What a key does in the bar. Space presses a button, where one has the focus; the speed keeps its own keys. */
function actionOf(event: KeyboardEvent, player: Player, close: () => void): (() => void) | null {
	const target = event.target as Element;
	if (event.key === "Escape") return close;
	if (event.ctrlKey || event.metaKey || event.altKey || target.localName === "select") return null;
	switch (event.key) {
		case " ":
			return target.localName === "button" ? null : player.toggle;
		case "ArrowLeft":
		case "ArrowDown":
			return () => player.step(-1, event.shiftKey);
		case "ArrowRight":
		case "ArrowUp":
			return () => player.step(1, event.shiftKey);
		case "Home":
			return () => player.jump("start");
		case "End":
			return () => player.jump("end");
		default:
			return null;
	}
}

function stepOf({ tape, count }: Replay): number {
	return tape.beatAt(count)?.step ?? 0;
}

function wordsOf(beat: Beat | undefined): string {
	if (!beat) return "";
	return beat.kind === "start" || beat.kind === "end" ? beat.words : `turn ${beat.step}: ${beat.words}`;
}

function createSlider(seek: (time: number) => void) {
	const range = h("input", {
		class: "anb-range",
		type: "range",
		min: 0,
		step: "any",
		"aria-label": "Moment of the run",
		oninput: () => seek(Number(range.value)),
	});
	const marks = h("div", { class: "marks", "aria-hidden": "true" });
	const element = h("div", { class: "track" }, marks, range);
	let marked: Tape | null = null;

	return {
		element,
		focus: () => range.focus({ preventScroll: true }),
		update({ tape, time }: Replay, words: string) {
			if (marked !== tape) {
				marked = tape;
				range.max = String(tape.seconds);
				marks.replaceChildren(...marksOf(tape));
			}
			range.value = String(time);
			element.style.setProperty("--done", String(time / (tape.seconds || 1)));
			setAttribute(range, "aria-valuetext", `${words}, ${seconds(time)}`);
		},
	};
}

/** A line where each turn begins, a dot where each tool has ended. */
function marksOf(tape: Tape): HTMLElement[] {
	const told = tape.beats.filter(({ kind }) => kind === "turn" || kind === "result");
	return told.map((beat) => {
		const mark = h("i", { class: `${beat.kind} ${beat.failed ? "bad" : ""}`.trim() });
		mark.style.setProperty("--at", String(beat.at / (tape.seconds || 1)));
		return mark;
	});
}

function createSpeed(context: Context): HTMLSelectElement {
	const options = SPEEDS.map((speed) => h("option", { value: speed, selected: speed === 1 }, `${speed}×`));
	const element = h("select", { class: "anb-speed", "aria-label": "Speed", title: "Speed" }, ...options);
	element.addEventListener(
		"change",
		() => {
			if (context.choices.replay) context.choices.replay.speed = Number(element.value);
		},
		{ signal: context.signal },
	);
	return element;
}

function press(button: HTMLElement, glyph: IconName, label: string): void {
	if (button.getAttribute("aria-label") === label) return;
	setAttribute(button, "aria-label", label);
	setAttribute(button, "title", label);
	button.querySelector("path")?.setAttribute("d", paths[glyph]);
}
