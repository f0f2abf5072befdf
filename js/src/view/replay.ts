// Entering and leaving the replay of a finished run, and the button for it in the header.

import { h, icon, listen, setAttribute } from "../dom.ts";
import type { Replay } from "../ui.ts";
import type { Context, Moment } from "./context.ts";

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
	listen(element, "click", context.signal, () => {
		if (context.choices.replay) leaveReplay(context);
		else openReplay(context);
	});
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

function openReplay({ run, choices, redraw }: Context): void {
	const tape = run.tape(choices.variant);
	if (!tape) return;
	const count = tape.start;
	choices.replay = { tape, count, time: tape.timeAt(count), playing: false, speed: 1 };
	Object.assign(choices, { file: null, version: null });
	redraw();
}

export function leaveReplay({ choices, redraw }: Context): void {
	Object.assign(choices, { replay: null, request: null });
	redraw();
}

/** Another variant is replayed from the same time; a new run, or all variants at once, end the replay. */
export function keepReplay(context: Context, moment: Moment): void {
	const { choices, run } = context;
	const { replay } = choices;
	if (!replay) return;
	const tape = run.tape(choices.variant);
	if (!tape || !canReplay(context, moment)) {
		leaveReplay(context);
	} else if (replay.tape !== tape) {
		Object.assign(replay, { tape, count: tape.countAt(replay.time), playing: false });
		context.redraw();
	}
}

/** The turn that a replay is in, from 1: before the first request it is the one to come. */
export function turnOf({ tape, count }: Replay): number {
	return Math.max(1, tape.beatAt(count)?.step ?? 0);
}
