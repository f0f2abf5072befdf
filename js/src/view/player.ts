// Plays, pauses and seeks a replay, and steps through it by moments or by single events.

import type { Replay } from "../ui.ts";
import type { Context } from "./context.ts";
import { turnOf } from "./replay.ts";

/** Milliseconds that one frame advances a replay at most, so that a page that was hidden continues where it was. */
const LONGEST_FRAME = 100;

export interface Player {
	toggle(): void;
	/** By moments, or by single events. */
	step(by: 1 | -1, single?: boolean): void;
	seek(time: number): void;
	jump(to: "start" | "end"): void;
}

export function createPlayer(context: Context): Player {
	const { choices } = context;
	const clock = createClock(context);
	if (choices.replay) choices.replay.playing = false;

	function go(count: (replay: Replay) => number, time?: number): void {
		const { replay } = choices;
		if (!replay) return;
		replay.playing = false;
		replay.count = Math.min(Math.max(1, count(replay)), replay.tape.length);
		replay.time = time ?? replay.tape.timeAt(replay.count);
		// An open request follows the replay.
		if (choices.request !== null) choices.request = turnOf(replay);
		context.redraw();
	}

	return {
		toggle() {
			const { replay } = choices;
			if (!replay) return;
			const playing = !replay.playing;
			if (playing && replay.count >= replay.tape.length) go(({ tape }) => tape.start);
			replay.playing = playing;
			if (playing) choices.request = null;
			clock.restart();
			context.redraw();
		},
		step(by, single = false) {
			if (single) go(({ count }) => count + by);
			else go(({ tape, count }) => (by > 0 ? tape.next(count) : tape.previous(count)));
		},
		seek: (time) => go(({ tape }) => tape.countAt(time), time),
		jump: (to) => go(({ tape }) => (to === "end" ? tape.length : tape.start)),
	};
}

/** Advances a replay with every frame while it plays. */
function createClock({ choices, signal, redraw }: Context) {
	let frame = 0;
	let last = 0;
	signal.addEventListener("abort", () => cancelAnimationFrame(frame), { once: true });

	function advance(now: number): void {
		const { replay } = choices;
		if (!replay?.playing || signal.aborted) return;
		const elapsed = Math.min(now - last, LONGEST_FRAME) / 1000;
		last = now;
		replay.time = replay.tape.advance(replay.time, elapsed * replay.speed);
		replay.count = Math.max(replay.count, replay.tape.countAt(replay.time));
		replay.playing = replay.count < replay.tape.length;
		redraw();
		frame = requestAnimationFrame(advance);
	}

	return {
		restart() {
			last = performance.now();
			cancelAnimationFrame(frame);
			if (choices.replay?.playing) frame = requestAnimationFrame(advance);
		},
	};
}

export function onKey(event: KeyboardEvent, player: Player, close: () => void): void {
	const act = actionFor(event, player, close);
	if (!act) return;
	event.preventDefault();
	event.stopPropagation();
	act();
}

/** What a key does in the scrubber. On a button, Space presses it; the speed menu keeps its own keys. */
function actionFor(event: KeyboardEvent, player: Player, close: () => void): (() => void) | null {
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
