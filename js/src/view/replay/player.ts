// Plays, pauses and seeks a replay, and steps through it by moments or by single events.

import { h, icon, setAttribute } from "../../base/dom.ts";
import { countAfter, turnOf } from "../../run/moments.ts";
import type { Tape } from "../../run/tape.ts";
import type { Position, Replay } from "../choices.ts";
import type { Context, Snapshot } from "../context.ts";

/** Maximum milliseconds that one frame advances a replay, so that a hidden page continues where it was. */
const LONGEST_FRAME = 100;
/** Maximum seconds of a wait in a replay: a question may have been open for minutes. */
const LONGEST_WAIT = 2;

const STEPS: Record<string, 1 | -1> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
const ENDS: Record<string, "start" | "end"> = { Home: "start", End: "end" };

/** Positions where a replay pauses. */
export interface Stops {
	/** The first stop between two positions, both included. */
	between(replay: Replay, to: Position): Position | null;
	/** Called when the user continues from a stop. */
	insist(): void;
}

export interface Player {
	/** Null for a run without stops. */
	stops: Stops | null;
	toggle(): void;
	/** Steps by moments, or by single events. */
	step(by: 1 | -1, single?: boolean): void;
	seek(time: number): void;
	goTo(position: Position): void;
	jump(to: "start" | "end"): void;
}

export function createPlayer(context: Context): Player {
	const { choices } = context;
	if (choices.replay) choices.replay.playing = false;

	function go(to: (replay: Replay) => number | Position): void {
		const { replay } = choices;
		if (!replay) return;
		const target = to(replay);
		Object.assign(replay, { playing: false }, typeof target === "number" ? at(replay, target) : target);
		// An open request follows the replay.
		if (choices.request !== null) choices.request = turnOf(replay);
		context.redraw();
	}

	const player: Player = {
		stops: null,
		toggle() {
			const { replay } = choices;
			if (!replay) return;
			const playing = !replay.playing;
			if (playing && player.stops?.between(replay, replay)) {
				player.stops.insist();
				return;
			}
			if (playing && replay.count >= replay.tape.length) go(({ tape }) => tape.start);
			replay.playing = playing;
			if (playing) choices.request = null;
			clock.restart();
			context.redraw();
		},
		step(by, single = false) {
			go((replay) => {
				const { count } = replay;
				const target = at(replay, single ? count + by : countAfter(replay, by));
				const stop = by > 0 ? player.stops?.between(replay, target) : null;
				if (stop?.count === count && stop.time === replay.time) player.stops?.insist();
				return stop ?? target;
			});
		},
		seek: (time) => go(({ tape }) => ({ count: tape.countAt(time), time })),
		goTo: ({ count, time }) => go(() => ({ count, time })),
		jump: (to) => go(({ tape }) => (to === "end" ? tape.length : tape.start)),
	};
	const clock = createClock(context, player);
	return player;
}

/** The position after `count` events, clamped to the tape. */
function at({ tape }: Replay, events: number): Position {
	const count = Math.min(Math.max(1, events), tape.length);
	return { count, time: tape.timeAt(count) };
}

/** The time after playing for some seconds; long waits are shortened. */
export function advanced(tape: Tape, time: number, seconds: number): number {
	let [now, remaining] = [time, seconds];
	for (let count = tape.countAt(now); count < tape.length; count = tape.countAt(now)) {
		const next = tape.timeAt(count + 1);
		const rate = Math.max(1, (next - tape.timeAt(count)) / LONGEST_WAIT);
		if ((next - now) / rate > remaining) return now + remaining * rate;
		remaining -= (next - now) / rate;
		now = next;
	}
	return tape.seconds;
}

/** Advances a replay with every frame while it plays. */
function createClock({ choices, signal, redraw }: Context, player: Player) {
	let frame = 0;
	let last = 0;
	signal.addEventListener("abort", () => cancelAnimationFrame(frame), { once: true });

	function advance(now: number): void {
		const { replay } = choices;
		if (!replay?.playing || signal.aborted) return;
		const elapsed = Math.min(now - last, LONGEST_FRAME) / 1000;
		last = now;
		const time = advanced(replay.tape, replay.time, elapsed * replay.speed);
		const next = { time, count: Math.max(replay.count, replay.tape.countAt(time)) };
		const stop = player.stops?.between(replay, next);
		Object.assign(replay, stop ?? next);
		replay.playing = !stop && replay.count < replay.tape.length;
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

/** The scrubber's shortcuts. On a button, Space presses it; the speed menu keeps its keys. */
function actionFor(event: KeyboardEvent, player: Player, close: () => void): (() => void) | null {
	const target = event.target as Element;
	if (event.key === "Escape") return close;
	if (event.ctrlKey || event.metaKey || event.altKey || target.localName === "select") return null;
	if (event.key === " ") return target.localName === "button" ? null : player.toggle;
	const by = STEPS[event.key];
	if (by) return () => player.step(by, event.shiftKey);
	const end = ENDS[event.key];
	return end ? () => player.jump(end) : null;
}

/** Starts and ends the replay of a finished run, and creates its button for the header. */
export function createReplayButton(context: Context) {
	const title = "Play the run again, as it happened";
	const onclick = (): void => (context.choices.replay ? leaveReplay : openReplay)(context);
	const props = { class: "anb-btn anb-replay", "aria-label": "Replay", title, onclick };
	const element = h("button", props, icon("replay"), h("span", null, "Replay"));
	return {
		element,
		update(snapshot: Snapshot) {
			element.hidden = !canReplay(context, snapshot);
			setAttribute(element, "aria-expanded", String(context.choices.replay !== null));
		},
	};
}

/** Whether a variant can be replayed: it is shown alone, has ended, and has called the model at least once. */
function canReplay({ choices }: Context, snapshot: Snapshot): boolean {
	const alone = snapshot.variants.length === 1 || choices.arrangement === "one";
	const state = snapshot.run.variants.get(choices.variant);
	return alone && state?.busy === false && state.turns.length > 0;
}

export function openReplay({ run, choices, redraw }: Pick<Context, "run" | "choices" | "redraw">): void {
	const tape = run.tape(choices.variant);
	const count = tape.start;
	choices.replay = { tape, count, time: tape.timeAt(count), playing: false, speed: 1 };
	Object.assign(choices, { file: null, moment: null });
	redraw();
}

export function leaveReplay({ choices, redraw }: Context): void {
	Object.assign(choices, { replay: null, request: null });
	redraw();
}

/** Continues at the same time for another variant; ends the replay for a new run, or if all variants are shown. */
export function keepReplay(context: Context, snapshot: Snapshot): void {
	const { choices, run } = context;
	const { replay } = choices;
	if (!replay) return;
	const tape = run.tape(choices.variant);
	if (!canReplay(context, snapshot)) {
		leaveReplay(context);
	} else if (replay.tape !== tape) {
		Object.assign(replay, { tape, count: tape.countAt(replay.time), playing: false });
		context.redraw();
	}
}
