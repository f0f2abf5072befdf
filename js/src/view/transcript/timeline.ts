// The transcript: a row for each piece of thinking or text, each tool call, each retry.

import { h, icon, KeyedList, listen, setText, type View, withCode } from "../../dom.ts";
import { seconds } from "../../format.ts";
import type { IconName } from "../../icons.ts";
import type { LineRow, Row, TextRow, ThinkingRow, VariantState } from "../../state.ts";
import type { BodyView, Context, Snapshot, Ticking } from "../context.ts";
import { createFold } from "../shared/fold.ts";
import { codeOf } from "./code-cell.ts";
import { createEnd } from "./end-card.ts";
import { createEdits, type Edits, foldEdits } from "./folded-edits.ts";
import { LongMarkdown } from "./long-text.ts";
import { createLeft } from "./notebook-names.ts";
import { createGiven } from "./prompt-images.ts";
import { createRetry } from "./retry-countdown.ts";
import { createSuggestions } from "./suggestions.ts";
import { createToolRow } from "./tool-row.ts";
import { createWaiting } from "./waiting.ts";

export function createTimeline(context: Context): BodyView {
	const given = createGiven();
	const log = h("ol", { class: "anb-log" });
	const scroll = h(
		"div",
		{ class: "anb-scroll", tabindex: 0, role: "region", "aria-label": "Transcript" },
		h("div", { class: "anb-transcript" }, given.element, log),
	);
	const ticking: Ticking = new Set();
	const list = new KeyedList<Row | TurnMark | Edits>(
		log,
		(row) => row.key,
		(row) => createItem(context, row, ticking) as View<Row | TurnMark | Edits>,
	);
	const offers = createSuggestions(context);
	const end = createEnd(context);
	const left = createLeftNames(context);
	const waiting = createWaiting();

	/** Shows a last row, or takes it away. */
	function place(element: HTMLElement, shown: boolean): void {
		if (!shown) element.remove();
		else if (log.lastChild !== element) log.append(element);
	}

	return {
		element: scroll,
		update(snapshot) {
			given.update(snapshot.state.images);
			list.update(foldEdits(context.choices.replay ? withTurns(snapshot.state) : snapshot.state.rows));
			const { busy, rows } = snapshot.state;
			const ended = !busy && rows.some((row) => row.kind === "tool" && codeOf(row) !== null);
			log.classList.toggle("ended", ended);
			if (left.update(ended ? rows : [])) log.append(left.element);
			place(offers.element, offers.update(snapshot));
			place(end.element, end.update(snapshot));
			this.tick(snapshot);
		},
		tick(snapshot) {
			place(waiting.element, !context.choices.replay && waiting.update(snapshot));
			for (const tick of ticking) tick(snapshot);
		},
	};
}

/** The names that the code of a run has left, below its answer. */
function createLeftNames(context: Context) {
	const element = h("li", { class: "anb-item" });
	let drawn: readonly Row[] = [];
	let undone: readonly string[] = [];
	return {
		element,
		/** Whether there are new rows to look at, or names in them were undone. */
		update(rows: readonly Row[]): boolean {
			const { undone: now = [] } = context.run.state?.meta ?? {};
			const same = rows === drawn && now.length === undone.length;
			if (same || (rows.length === 0 && drawn.length === 0)) return false;
			[drawn, undone] = [rows, now];
			if (rows.length === 0) element.remove();
			else element.replaceChildren(createLeft(context, rows));
			return rows.length > 0;
		},
	};
}

/** Where a turn begins. A replay shows it, because a request was sent there. */
interface TurnMark {
	kind: "turn";
	key: string;
	turn: number;
}

function withTurns({ rows, turns }: VariantState): (Row | TurnMark)[] {
	const mark = (turn: number): TurnMark => ({ kind: "turn", key: `turn-${turn}`, turn });
	const ofTurn = (turn: number): Row[] => rows.filter((row) => row.turn === turn);
	return [...ofTurn(0), ...turns.flatMap((turn) => [mark(turn), ...ofTurn(turn)])];
}

function createTurn(context: Context, { turn }: TurnMark): View<Row | TurnMark> {
	const button = h(
		"button",
		{ type: "button", title: "Show what was sent in this turn" },
		`turn ${turn}: request`,
	);
	listen(button, "click", context.signal, () => {
		context.choices.request = turn;
		context.redraw();
	});
	return { element: h("li", { class: "anb-turn" }, button), update() {} };
}

function createItem(context: Context, row: Row | TurnMark | Edits, ticking: Ticking): unknown {
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
		case "line":
			return createLine(context, row);
		default: {
			const unhandled: never = row;
			return unhandled;
		}
	}
}

function createThinking(context: Context, ticking: Ticking): View<ThinkingRow> {
	const label = h("span", { class: "lab" });
	const time = h("span", { class: "end num" });
	const text = h("div", { class: "anb-think anb-md" });
	const markdown = new LongMarkdown(text);
	const detail = h("div", { class: "anb-detail" }, text, markdown.rest.element);
	const summary = h("summary", { class: "anb-row" }, label, icon("right", "chev"), time);
	const fold = createFold(context, summary, detail);
	const node = h("span", { class: "anb-node" }, icon("think"));
	const element = h("li", { class: "anb-item" }, node, fold.element);
	let row: ThinkingRow | null = null;
	const tick = (snapshot: Snapshot): void => {
		if (row?.to === null) setText(time, seconds(Math.max(0, snapshot.now - row.from)));
	};

	return {
		element,
		update(next) {
			row = next;
			const live = next.to === null;
			element.classList.toggle("live", live);
			label.classList.toggle("anb-live", live);
			text.classList.toggle("writing", live);
			setText(label, thinkingLabel(next));
			markdown.set(next.text, !live);
			fold.set(next.key, live);
			if (live) ticking.add(tick);
			else ticking.delete(tick);
			if (!live) setText(time, "");
		},
	};
}

function thinkingLabel({ from, to }: ThinkingRow): string {
	if (to === null) return "Thinking";
	return to - from < 0.05 ? "Thought" : `Thought for ${seconds(to - from)}`;
}

function createText(): View<TextRow> {
	const say = h("div", { class: "anb-say anb-md" });
	const markdown = new LongMarkdown(say);
	const node = h("span", { class: "anb-node pt" });
	const element = h("li", { class: "anb-item" }, node, say, markdown.rest.element);
	return {
		element,
		update(row) {
			markdown.set(row.text, row.done);
			say.classList.toggle("writing", !row.done);
		},
	};
}

const LINE_ICONS: Record<LineRow["state"], IconName | null> = { info: null, retry: "retry" };

function createLine(context: Context, { state, waits = [] }: LineRow): View<LineRow> {
	const name = LINE_ICONS[state];
	const node = name ? h("span", { class: "anb-node" }, icon(name)) : h("span", { class: "anb-node pt" });
	const label = h("span", { class: "lab" });
	const fold = waits.length > 1 ? createAttempts(context, label, waits) : null;
	const line = fold?.element ?? h("div", { class: "anb-row still" }, label);
	return {
		element: h("li", { class: "anb-item" }, node, line),
		update({ key, title, detail }) {
			label.replaceChildren(...withCode(detail ? `${title}: ${detail}` : title));
			fold?.set(key, false);
		},
	};
}

/** A line that unfolds to the single attempts. */
function createAttempts(context: Context, label: HTMLElement, waits: readonly number[]) {
	const attempts = waits.map((wait, index) =>
		h("div", null, `Attempt ${index + 1}${wait < 0.05 ? "" : `, then waited ${seconds(wait)}`}`),
	);
	const summary = h("summary", { class: "anb-row" }, label, icon("right", "chev"));
	return createFold(context, summary, h("div", { class: "anb-detail anb-think" }, ...attempts));
}
