// Entering and leaving the replay of a finished run, and the button for it in the header.

import { h, icon, listen, setAttribute } from "../../dom.ts";
import type { Context, Snapshot } from "../context.ts";

export function createReplayButton(context: Context) {
	const element = h(
		"button",
		{
			class: "anb-btn anb-replay",
			type: "button",
			"aria-label": "Replay",
			title: "Play the run again, as it happened",
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
		update(snapshot: Snapshot) {
			element.hidden = !canReplay(context, snapshot);
			setAttribute(element, "aria-expanded", String(context.choices.replay !== null));
		},
	};
}

/** A variant can be replayed when it is shown alone, has ended, and has asked the model at least once. */
function canReplay({ run, choices }: Context, snapshot: Snapshot): boolean {
	const alone = snapshot.variants.length === 1 || choices.arrangement === "one";
	const state = snapshot.run.variants.get(choices.variant);
	return alone && state?.busy === false && state.turns.length > 0 && run.tape(choices.variant) !== undefined;
}

export function openReplay({ run, choices, redraw }: Pick<Context, "run" | "choices" | "redraw">): void {
	const tape = run.tape(choices.variant);
	if (!tape) return;
	const count = tape.start;
	choices.replay = { tape, count, time: tape.timeAt(count), playing: false, speed: 1 };
	Object.assign(choices, { file: null, moment: null });
	redraw();
}

export function leaveReplay({ choices, redraw }: Context): void {
	Object.assign(choices, { replay: null, request: null });
	redraw();
}

/** Another variant continues at the same time; a new run, or showing all variants at once, ends the replay. */
export function keepReplay(context: Context, snapshot: Snapshot): void {
	const { choices, run } = context;
	const { replay } = choices;
	if (!replay) return;
	const tape = run.tape(choices.variant);
	if (!tape || !canReplay(context, snapshot)) {
		leaveReplay(context);
	} else if (replay.tape !== tape) {
		Object.assign(replay, { tape, count: tape.countAt(replay.time), playing: false });
		context.redraw();
	}
}
