// The form with which a teacher adds a note at the moment that the replay shows.

import { h, setText } from "../dom.ts";
import { momentAt } from "../moments.ts";
import type { Replay } from "../ui.ts";
import { type Context, follow, type Outcome } from "../view/context.ts";

const LONGEST_NOTE = 5000;
const BUSY = "The kernel is busy. The note is added when it is idle.";

/** `close` is called with the time of the note, or with null if there is none. */
export function createComposer(context: Context, close: (time: number | null) => void) {
	const { field, element, problem } = createForm(add, () => close(null));
	let sent = false;

	function add(): void {
		const { replay, variant } = context.choices;
		const text = field.value.trim();
		if (!replay || !text || sent) {
			field.focus();
			return;
		}
		const { time } = replay;
		sent = true;
		const reply = context.run.command("annotate", { variant, at: momentOf(replay), text });
		follow(context, reply, BUSY, (result) => report(result, time));
	}

	function report(result: Outcome, time: number): void {
		problem.hidden = result.done;
		sent = !result.done && result.why === BUSY;
		if (!result.done) {
			setText(problem, result.why);
			return;
		}
		field.value = "";
		context.announce("Note added");
		close(time);
	}

	return {
		element,
		open() {
			element.hidden = false;
			field.focus({ preventScroll: true });
		},
	};
}

function createForm(add: () => void, cancel: () => void) {
	const field = h("textarea", {
		class: "anb-field",
		rows: 2,
		dir: "auto",
		maxlength: LONGEST_NOTE,
		"aria-label": "Note",
		placeholder: "A note at this moment, in Markdown",
		onkeydown: (event: KeyboardEvent) => {
			if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) add();
		},
	});
	const buttons = [
		h("button", { class: "anb-btn primary", type: "button", onclick: add }, "Add"),
		h("button", { class: "anb-btn", type: "button", onclick: cancel }, "Cancel"),
	];
	const problem = h("p", { class: "anb-note warn", role: "alert", hidden: true });
	const line = h("div", { class: "own" }, field, ...buttons);
	return { field, problem, element: h("div", { class: "compose", hidden: true }, line, problem) };
}

/** The start of a turn by its name, anything else by its time. */
function momentOf(replay: Replay): string | number {
	const moment = momentAt(replay);
	return moment?.kind === "turn" && moment.count === replay.count ? `turn ${moment.turn}` : replay.time;
}
