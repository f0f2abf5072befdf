// The bar of the stage: the history of the conversation, with a button for each version, and actions.

import { h, setAttribute, setText } from "../dom.ts";
import type { Step, Versions } from "../history.ts";

const EMPTY = "Nothing to show yet. Run a prompt in this notebook.";
const SAVED = "This is the saved result: no kernel has this run. Run its cell again to continue from it.";

export interface BarActions {
	/** Shows a version; null is the newest of the run. */
	choose(step: Step, moment: number | null): void;
	pin(): void;
	follow(): void;
	next(press: UIEvent): void;
}

export interface BarState {
	/** The runs of the conversation, and the visible one. */
	readonly runs: readonly Step[];
	readonly key: string;
	readonly isPinned: boolean;
	/** The first line of the cell that continues from here; null if that is not possible. */
	readonly next: string | null;
	/** The versions of the runs, in the same order, if known. */
	readonly versions: readonly (Versions | undefined)[];
}

export function createBar(actions: BarActions) {
	const history = h("ol", { "aria-label": "History" });
	const next = h("button", { onclick: actions.next }, "Continue from here");
	const pin = h("button", { onclick: actions.pin }, "Pin");
	const follow = h("button", { onclick: actions.follow }, "Follow newest");
	const note = h("p", { role: "status" });
	const element = h("div", { class: "bar" }, history, h("div", null, next, pin, follow), note);
	let drawn = "";
	return {
		element,
		update(state: BarState) {
			const { runs, key, isPinned, next: line } = state;
			const text = JSON.stringify(state);
			if (text === drawn) return;
			drawn = text;
			const focus = labelOf(history.querySelector(":focus"));
			history.replaceChildren(...runs.map((_, at) => createEntry(actions, state, at)));
			history.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
			for (const button of history.querySelectorAll("button"))
				if (focus && labelOf(button) === focus) button.focus();
			setText(note, key ? SAVED : EMPTY);
			note.classList.toggle("saved", key !== "");
			pin.disabled = key === "";
			next.disabled = line === null;
			setAttribute(next, "title", line && `Insert a cell: ${line}`);
			setAttribute(pin, "aria-pressed", String(isPinned));
			setAttribute(follow, "aria-pressed", String(!isPinned));
		},
	};
}

function labelOf(element: Element | null): string | null {
	return element?.getAttribute("aria-label") ?? null;
}

/** A run in the history: its name, a button for each version, and its prompt. */
function createEntry(actions: BarActions, { runs, key, versions }: BarState, index: number): HTMLElement {
	const step = runs[index] as Step;
	const { moments = [], moment = null } = versions[index] ?? {};
	// The initial page is the last version of the previous run.
	const changes = step.base ? moments.filter((change) => change > 0) : moments;
	const stops = changes.length > 1 ? changes : [null];
	const last = stops.at(-1) ?? null;
	const buttons = stops.map((stop, at) => {
		const label = stops.length > 1 ? `${step.name} v${at + 1}` : step.name;
		return h("button", {
			"aria-label": label,
			title: step.prompt ? `${label}: ${step.prompt}` : label,
			"aria-current": step.key === key && (moment ?? last) === stop && "step",
			onclick: () => actions.choose(step, stop === last ? null : stop),
		});
	});
	const isBranch = step.base && step.base.key !== runs[index - 1]?.key;
	const name = h("b", null, step.name, isBranch && h("i", null, ` from ${step.base?.name}`));
	return h("li", null, name, h("span", null, ...buttons), h("small", { title: step.prompt }, step.prompt));
}
