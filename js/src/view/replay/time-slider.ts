// The scrubber's slider over the time of a run, with marks for turns and tool results.

import { h, setAttribute } from "../../dom.ts";
import { seconds } from "../../format.ts";
import { momentsOn } from "../../moments.ts";
import type { Tape } from "../../tape.ts";
import type { Replay } from "../../ui.ts";

export function createSlider(seek: (time: number) => void) {
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
