// The scrubber: a slim bar that replays a finished run. While it is open, all other views show the run at that moment.
//
// It steps by moments: a continuous piece of text, thinking or writing is one moment, so that a class sees one thing
// happen per key. Shift with an arrow key steps by single events.

import { h, setAttribute, setLabel, setText } from "../../base/dom.ts";
import { seconds } from "../../base/format.ts";
import { type IconName, paths } from "../../base/icons.ts";
import { momentAt, momentsOn, turnOf } from "../../run/moments.ts";
import type { Tape } from "../../run/tape.ts";
import { loadLayout, type Replay, saveLayout } from "../choices.ts";
import type { Context, Snapshot } from "../context.ts";
import { iconButton, textButton } from "../shared/buttons.ts";
import { Annotations } from "./annotations.ts";
import { createPlayer, leaveReplay, onKey, type Player } from "./player.ts";

const SPEEDS = [0.5, 1, 2, 4];

/** `shown` is whether the replay was open before. */
export function createScrubber(context: Context, shown: boolean) {
	const { choices } = context;
	const player = createPlayer(context);
	const slider = createSlider((time) => player.seek(time));
	const keys = createKeys(player);
	const readout = createReadout();
	const speed = createSpeed(context);
	const request = createRequestButton(context);
	const about = createAbout();
	let annotations: Annotations | null = null;
	const close = iconButton("cross", "Leave the replay", () => finish());
	const [label, clock] = readout.elements;
	const controls = [keys.element, slider.element, label, clock, speed, request.element, close];
	const bar = h("div", { class: "bar" }, ...controls, readout.spoken);
	const look = { class: "anb-scrubber", role: "group", "aria-label": "Replay", hidden: true };
	const element = h("div", look, about.element, bar);
	const parts = [keys, slider, readout, request];

	function annotate(replay: Replay): void {
		if (!annotations) {
			annotations = player.stops = new Annotations(context, player, slider);
			element.prepend(annotations.element);
		}
		annotations.update(replay);
	}

	function finish(): void {
		leaveReplay(context);
		element.closest(".anb-frame")?.querySelector<HTMLElement>(".anb-replay")?.focus();
	}

	element.onkeydown = (event) => onKey(event, player, finish);
	return {
		element,
		update({ run }: Snapshot) {
			const { replay } = choices;
			element.hidden = replay === null;
			const label = labelOf(replay);
			if (replay) for (const part of parts) part.update(replay, label, shown);
			if (replay && run.meta.annotations?.length) annotate(replay);
			if (replay && !shown) {
				about.show();
				slider.focus();
				player.toggle();
			}
			shown = replay !== null;
		},
	};
}

/** A line of explanation for the first replay in this browser. */
function createAbout() {
	const text = "This is the run as it happened. Space pauses and plays, ← and → step, Esc leaves.";
	const element = h("p", { class: "about", hidden: true }, text);
	return {
		element,
		show() {
			element.hidden = loadLayout().replayed;
			saveLayout({ replayed: true });
		},
	};
}

function labelOf(replay: Replay | null): string {
	const moment = replay && momentAt(replay);
	if (!moment) return "";
	return moment.kind === "start" || moment.kind === "end"
		? moment.label
		: `turn ${moment.turn}: ${moment.label}`;
}

function createKeys(player: Player) {
	const back = iconButton("stepBack", "Step back", () => player.step(-1));
	const play = iconButton("play", "Play", () => player.toggle());
	const forward = iconButton("stepForth", "Step forward", () => player.step(1));
	return {
		element: h("div", { class: "keys" }, back, play, forward),
		update({ tape, count, playing }: Replay) {
			setIcon(play, playing ? "halt" : "play", playing ? "Pause" : "Play");
			// Not `disabled`: a focused button would lose the focus, and the shortcuts with it.
			setAttribute(back, "aria-disabled", count <= tape.start ? "true" : null);
			setAttribute(forward, "aria-disabled", count >= tape.length ? "true" : null);
		},
	};
}

function setIcon(button: HTMLElement, glyph: IconName, label: string): void {
	if (button.getAttribute("aria-label") === label) return;
	setLabel(button, label);
	button.querySelector("path")?.setAttribute("d", paths[glyph]);
}

/** The label and time of the moment, visible and for a screen reader. */
function createReadout() {
	const text = h("span", { class: "label" });
	const clock = h("span", { class: "num mut clock" });
	const spoken = h("span", { class: "anb-sr", role: "status", "aria-live": "polite" });
	return {
		elements: [text, clock],
		spoken,
		update({ tape, time, playing }: Replay, label: string, shown: boolean) {
			setText(text, label);
			setAttribute(text, "title", label);
			setText(clock, `${time.toFixed(1)} / ${seconds(tape.seconds)}`);
			// Not during playback: it would announce every moment.
			if (!playing) setText(spoken, shown ? label : "");
		},
	};
}

function createRequestButton(context: Context) {
	const { choices } = context;
	const element = textButton("Request", () => {
		if (!choices.replay) return;
		choices.replay.playing = false;
		choices.request = turnOf(choices.replay);
		context.redraw();
	});
	return {
		element,
		update(replay: Replay) {
			setAttribute(element, "aria-label", `Request of turn ${turnOf(replay)}`);
			element.hidden = !momentsOn(replay.tape).some(({ kind }) => kind === "turn");
		},
	};
}

function createSpeed({ choices }: Context): HTMLSelectElement {
	const speeds = SPEEDS.map((speed) => h("option", { value: speed, selected: speed === 1 }, `${speed}×`));
	const element = h("select", { class: "anb-speed", "aria-label": "Speed", title: "Speed" }, ...speeds);
	element.onchange = () => {
		if (choices.replay) choices.replay.speed = Number(element.value);
	};
	return element;
}

/** The scrubber's slider over the time of a run, with marks for turns and tool results. */
function createSlider(seek: (time: number) => void) {
	const props = { class: "anb-range", type: "range", min: 0, step: "any", "aria-label": "Moment of the run" };
	const range = h("input", { ...props, oninput: () => seek(Number(range.value)) });
	const marks = h("div", { class: "marks", "aria-hidden": "true" });
	const element = h("div", { class: "track" }, marks, range);
	let marked: Tape | null = null;

	return {
		element,
		focus: () => range.focus({ preventScroll: true }),
		update({ tape, time }: Replay, label: string) {
			if (marked !== tape) {
				marked = tape;
				range.max = String(tape.seconds);
				marks.replaceChildren(...marksOf(tape));
			}
			range.value = String(time);
			element.style.setProperty("--done", String(time / (tape.seconds || 1)));
			setAttribute(range, "aria-valuetext", `${label}, ${seconds(time)}`);
		},
	};
}

/** A line where a turn begins, a dot where a tool has finished. */
function marksOf(tape: Tape): HTMLElement[] {
	const moments = momentsOn(tape).filter(({ kind }) => kind === "turn" || kind === "result");
	return moments.map((moment) => {
		const mark = h("i", { class: `${moment.kind} ${moment.failed ? "bad" : ""}`.trim() });
		mark.style.setProperty("--at", String(moment.at / (tape.seconds || 1)));
		return mark;
	});
}
