// The transcript: one row per piece of thinking, text, tool call or retry.

import { h, icon, KeyedList, setText, type View } from "../dom.ts";
import { seconds } from "../format.ts";
import { Markdown } from "../markdown.ts";
import { retrySeconds } from "../phase.ts";
import type { RetryRow, Row, TextRow, ThinkingRow, VariantState } from "../state.ts";
import type { Context, Moment } from "./context.ts";
import { createEdits, type Edits, foldEdits } from "./edits.ts";
import { createGiven } from "./given.ts";
import { createToolRow } from "./tool.ts";

export interface TimelineView {
	readonly element: HTMLElement;
	update(moment: Moment): void;
	/** Moves what moves by itself: the seconds of the row at work. */
	tick(moment: Moment): void;
}

export function createTimeline(context: Context): TimelineView {
	const given = createGiven();
	const log = h("ol", { class: "anb-log" });
	const scroll = h(
		"div",
		{ class: "anb-scroll", tabindex: 0, role: "region", "aria-label": "Transcript" },
		h("div", { class: "anb-told" }, given.element, log),
	);
	const ticking = new Set<(moment: Moment) => void>();
	const list = new KeyedList<Row | TurnMark | Edits>(
		log,
		(row) => row.key,
		(row) => createItem(context, row, ticking) as View<Row | TurnMark | Edits>,
	);
	const end = createEnd();

	return {
		element: scroll,
		update(moment) {
			given.update(moment.state.images);
			list.update(foldEdits(context.choices.replay ? withTurns(moment.state) : moment.state.rows));
			if (!end.update(moment)) end.element.remove();
			else if (log.lastChild !== end.element) log.append(end.element);
			for (const move of ticking) move(moment);
		},
		tick(moment) {
			for (const move of ticking) move(moment);
		},
	};
}

/** Where a turn begins; a replay shows it, because that is where a request was sent. */
interface TurnMark {
	kind: "turn";
	key: string;
	step: number;
}

function withTurns({ rows, turns }: VariantState): (Row | TurnMark)[] {
	const items: (Row | TurnMark)[] = [...rows];
	for (const { step, row } of turns.toReversed())
		items.splice(row, 0, { kind: "turn", key: `turn-${step}`, step });
	return items;
}

function createTurn(context: Context, { step }: TurnMark): View<Row | TurnMark> {
	const button = h(
		"button",
		{ type: "button", title: "What was sent in this turn" },
		`turn ${step}: request`,
	);
	button.addEventListener(
		"click",
		() => {
			context.choices.request = step;
			context.redraw();
		},
		{ signal: context.signal },
	);
	return { element: h("li", { class: "anb-turn" }, button), update() {} };
}

function createItem(
	context: Context,
	row: Row | TurnMark | Edits,
	ticking: Set<(moment: Moment) => void>,
): unknown {
	switch (row.kind) {
		case "turn":
			return createTurn(context, row);
		case "edits":
			return createEdits(context, ticking);
		case "thinking":
			return createThinking(context, ticking);
		case "text":
			return createText();
		case "tool":
			return createToolRow(context, row, ticking);
		case "retry":
			return createRetry(ticking);
	}
}

/** Opens and closes a row by itself, until the person has had a say. */
export function createFold(context: Context, summary: HTMLElement, detail: HTMLElement) {
	const element = h("details", null, summary, detail);
	let key = "";
	summary.addEventListener("click", () => context.choices.rows.set(key, !element.open), {
		signal: context.signal,
	});
	return {
		element,
		set(rowKey: string, open: boolean) {
			key = rowKey;
			const wanted = context.choices.rows.get(key) ?? open;
			if (element.open !== wanted) element.open = wanted;
		},
	};
}

function createThinking(context: Context, ticking: Set<(moment: Moment) => void>): View<ThinkingRow> {
	const label = h("span", { class: "lab" });
	const time = h("span", { class: "end num" });
	const text = h("div", { class: "anb-detail anb-think anb-md" });
	const markdown = new Markdown(text);
	const fold = createFold(
		context,
		h("summary", { class: "anb-row" }, label, icon("right", "chev"), time),
		text,
	);
	const element = h(
		"li",
		{ class: "anb-item" },
		h("span", { class: "anb-node" }, icon("think")),
		fold.element,
	);
	let row: ThinkingRow | null = null;
	const move = (moment: Moment): void => {
		if (row?.to === null) setText(time, seconds(Math.max(0, moment.now - row.from)));
	};

	return {
		element,
		update(next) {
			row = next;
			const live = next.to === null;
			element.classList.toggle("live", live);
			label.classList.toggle("anb-live", live);
			const took = (next.to ?? next.from) - next.from;
			setText(label, live ? "Thinking" : took < 0.05 ? "Thought" : `Thought for ${seconds(took)}`);
			markdown.set(next.text, !live);
			text.classList.toggle("writing", live);
			fold.set(next.key, live);
			if (live) ticking.add(move);
			else {
				ticking.delete(move);
				setText(time, "");
			}
		},
	};
}

function createText(): View<TextRow> {
	const say = h("div", { class: "anb-say anb-md" });
	const markdown = new Markdown(say);
	const element = h("li", { class: "anb-item" }, h("span", { class: "anb-node pt" }), say);
	return {
		element,
		update(row) {
			markdown.set(row.text, row.done);
			say.classList.toggle("writing", !row.done);
		},
	};
}

const RING = 2 * Math.PI * 13;

/** A countdown while the retry waits; a quiet line once it has begun. */
function createRetry(ticking: Set<(moment: Moment) => void>): View<RetryRow> {
	const number = h("span", { class: "num" });
	const ring = h("div", { class: "anb-ring", "aria-hidden": "true" }, number);
	const circles = ["bg", "fgc"].map((name) => {
		const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
		for (const [key, value] of Object.entries({ class: name, cx: 16, cy: 16, r: 13 }))
			circle.setAttribute(key, String(value));
		return circle;
	});
	const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	svg.setAttribute("viewBox", "0 0 32 32");
	svg.append(...circles);
	ring.prepend(svg);
	const why = h("h4");
	const note = h("p", { class: "sub" });
	const card = h(
		"div",
		{ class: "anb-card ask", role: "alert" },
		h("header", null, ring, h("div", null, why, note)),
	);
	const line = h("div", { class: "anb-row still" }, h("span", { class: "lab" }));
	const element = h(
		"li",
		{ class: "anb-item ask" },
		h("span", { class: "anb-node" }, icon("retry")),
		card,
		line,
	);
	let row: RetryRow | null = null;
	const move = ({ now, state }: Moment): void => {
		if (!row) return;
		const left = Math.max(0, row.wait - (now - state.at));
		setText(number, String(retrySeconds(left)));
		const share = row.wait > 0 ? left / row.wait : 0;
		circles[1]?.setAttribute("stroke-dasharray", `${RING * share} ${RING}`);
	};

	return {
		element,
		update(next) {
			row = next;
			card.hidden = next.over;
			line.hidden = !next.over;
			element.classList.toggle("ask", !next.over);
			setText(why, next.why);
			setText(
				note,
				`Attempt ${next.attempt}. Your files are kept; what this turn had written is taken back.`,
			);
			setText(line.firstChild as Node, `Tried again: ${next.why}`);
			if (next.over) ticking.delete(move);
			else ticking.add(move);
		},
	};
}

/** The last card of a run that did not end well. */
function createEnd() {
	const title = h("h4");
	const text = h("div", { class: "sub anb-md" });
	const element = h(
		"li",
		{ class: "anb-item bad" },
		h("span", { class: "anb-node" }, icon("error")),
		h("div", { class: "anb-card bad", role: "alert" }, h("header", null, h("div", null, title, text))),
	);
	const markdown = new Markdown(text);
	return {
		element,
		update({ state }: Moment): boolean {
			if (state.busy || !state.error) return false;
			setText(title, state.phase === "failed" ? "The run failed" : `The run was ${state.phase}`);
			markdown.set(state.error, true);
			return true;
		},
	};
}
