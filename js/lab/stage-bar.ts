// The bar of the stage: the history of the conversation with a button for each version, the name and phase of the visible
// run, the width of its page, and actions.

import { h, icon, setAttribute, setChildren, setLabel, setText } from "../src/base/dom.ts";
import type { IconName } from "../src/base/icons.ts";
import type { StageView } from "../src/run/lab.ts";
import { createDevices } from "../src/view/shared/devices.ts";
import type { Step } from "./history.ts";

const EMPTY = "Nothing to show yet. Run a prompt in this notebook.";
const SAVED = "This is the saved result: no kernel has this run. Run its cell again to continue from it.";

export interface BarActions {
	/** Shows a version; null is the newest of the run. */
	choose(step: Step, moment: number | null): void;
	pin(on: boolean): void;
	follow(): void;
	next(press: UIEvent): void;
}

export interface BarState {
	/** The runs of the conversation, and the visible one. */
	readonly runs: readonly Step[];
	readonly key: string;
	readonly isPinned: boolean;
	/** Whether the newest version of the newest run is shown. */
	readonly isNewest: boolean;
	/** The views of the runs, in the same order, if known. */
	readonly views: readonly (StageView | undefined)[];
	/** The view on the stage, once it is there. */
	readonly view: StageView | null;
}

export function createBar(actions: BarActions) {
	const history = h("ol", { "aria-label": "History" });
	const name = h("b");
	const phase = h("span");
	const tools = createTools(actions);
	const note = h("p", { role: "status" });
	const run = h("span", { class: "run" }, name, phase);
	const line = h("div", { class: "line" }, history, run, ...tools.elements);
	return {
		element: h("div", { class: "bar" }, line, note),
		update(state: BarState) {
			const { runs, key, view } = state;
			drawHistory(history, actions, state);
			setText(name, runs.find((run) => run.key === key)?.name ?? "");
			setText(phase, view?.phase ?? "");
			setAttribute(phase, "title", view?.phase ?? null);
			setText(note, key ? SAVED : EMPTY);
			note.classList.toggle("saved", key !== "");
			tools.update(state);
		},
	};
}

/** Draws the history; a version that has the focus keeps it. */
function drawHistory(history: HTMLElement, actions: BarActions, state: BarState): void {
	const focus = labelOf(history.querySelector(":focus"));
	const before = history.firstChild;
	const versions = state.views.map((view) => [view?.moments, view?.moment]);
	const runs = state.runs.map(({ key, prompt, base }) => [key, prompt, base?.key]);
	setChildren(history, JSON.stringify([runs, state.key, versions]), () =>
		state.runs.map((_, at) => createEntry(actions, state, at)),
	);
	if (history.firstChild === before) return;
	history.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
	for (const button of history.querySelectorAll("button"))
		if (focus && labelOf(button) === focus) button.focus();
}

function labelOf(element: Element | null): string | null {
	return element?.getAttribute("aria-label") ?? null;
}

/** A run in the history: its number, and a button for each version. */
function createEntry(actions: BarActions, { runs, key, views }: BarState, index: number): HTMLElement {
	const step = runs[index] as Step;
	const { moments = [], moment = null } = views[index] ?? {};
	// The initial page is the last version of the previous run.
	const changes = step.base ? moments.filter((change) => change > 0) : moments;
	const stops = changes.length > 1 ? changes : [null];
	const last = stops.at(-1) ?? null;
	const isBranch = step.base && step.base.key !== runs[index - 1]?.key;
	const about = `${isBranch ? `, from ${step.base?.name}` : ""}${step.prompt && `: ${step.prompt}`}`;
	const buttons = stops.map((stop, at) => {
		const label = stops.length > 1 ? `${step.name} v${at + 1}` : step.name;
		return h("button", {
			"aria-label": label,
			title: label + about,
			"aria-current": step.key === key && (moment ?? last) === stop && "step",
			onclick: () => actions.choose(step, stop === last ? null : stop),
		});
	});
	return h("li", null, h("small", { title: step.name + about }, shortName(step, runs)), ...buttons);
}

/** `3` for `hero_3` in a conversation that `hero` began; else the name. */
function shortName({ name }: Step, [first]: readonly Step[]): string {
	const stem = first?.name.replace(/_[1-9]\d*$/, "");
	if (name === stem) return "1";
	return name.replace(/_([1-9]\d*)$/, "") === stem ? name.slice(stem.length + 1) : name;
}

function createTools(actions: BarActions) {
	let view: StageView | null = null;
	let pinned = false;
	const devices = createDevices(
		() => view?.device ?? "full",
		(device) => view?.set({ device }),
	);
	const point = createButton("point", "Point at an element", "", () => view?.point());
	const next = createButton("out", "Continue from here", "Continue", actions.next);
	const pin = createButton("pin", "Pin", "", () => actions.pin(!pinned));
	const follow = createButton("stepForth", "Follow newest", "", actions.follow);
	const stop = createButton("stopped", "Stop", "Stop", (press) => view?.stop(press));
	const details = createButton("down", "", "", () => view?.set({ details: !view.details }));
	return {
		elements: [devices.element, point, next, stop, pin, follow, details],
		update({ key, isPinned, isNewest, view: newest }: BarState) {
			[view, pinned] = [newest, isPinned];
			devices.update();
			devices.element.hidden = !view?.device;
			point.hidden = !view || view.points === null;
			setAttribute(point, "aria-pressed", String(view?.points ?? false));
			next.hidden = view?.isBusy === true;
			next.disabled = !view?.next;
			setLabel(next, "Continue from here", view?.next ? `Insert a cell: ${view.next}` : undefined);
			stop.hidden = !view?.isBusy;
			pin.disabled = key === "";
			setAttribute(pin, "aria-pressed", String(isPinned));
			follow.hidden = key === "" || isNewest;
			details.hidden = !view;
			setAttribute(details, "aria-expanded", String(view?.details ?? false));
			setLabel(details, `${view?.details ? "Hide" : "Show"} figures, files and actions`);
		},
	};
}

/** A narrow bar leaves out the text. */
function createButton(
	glyph: IconName,
	label: string,
	text: string,
	onclick: (press: MouseEvent) => void,
): HTMLButtonElement {
	const props = { class: "act", "aria-label": label, title: label, onclick };
	return h("button", props, icon(glyph), text && h("span", null, text));
}
