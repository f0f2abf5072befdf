// The transcript: a row for each piece of thinking or text, each tool call, each retry.

import {
	createKeyedList,
	h,
	icon,
	setChildren,
	setText,
	toggle,
	type View,
	withCode,
} from "../../base/dom.ts";
import { bytes, seconds, sumOf } from "../../base/format.ts";
import { Markdown } from "../../base/markdown.ts";
import type { PlanEntry, Thumbnail } from "../../run/events.ts";
import { isWaiting, retrySeconds, WAITS_LONG, waitingPhase } from "../../run/phase.ts";
import {
	type LineRow,
	type RetryRow,
	type Row,
	retryOf,
	type StreamRow,
	type ToolRow,
	type VariantState,
} from "../../run/state.ts";
import { type BodyView, type Context, type Snapshot, type Ticking, viewsIn } from "../context.ts";
import { createFold } from "../shared/fold.ts";
import { createItem } from "../shared/item.ts";
import { hasResult } from "../shown.ts";
import { answerOf, createAnswer, createText } from "./answer.ts";
import { createEnd } from "./end-card.ts";
import { isReadFirst } from "./folded-transcript.ts";
import { createLeft } from "./notebook-names.ts";
import { codeOf, createToolRow, lineCounts } from "./tool-row.ts";

/** The transcript, and below it the answer, which a run that has ended shows above. */
export function createTimeline(context: Context): BodyView & { readonly answer: HTMLElement } {
	const promptImages = createPromptImages();
	const log = h("ol", { class: "anb-log" });
	const answer = createAnswerList(context);
	const scroll = h(
		"div",
		{ class: "anb-scroll", tabindex: 0, role: "region", "aria-label": "Transcript" },
		h("div", { class: "anb-transcript" }, promptImages.element, log, answer.element),
	);
	const ticking: Ticking = new Set();
	const updateList = createKeyedList<Row | TurnMark | Edits>(
		log,
		(row) => row.key,
		(row) => createRow(context, row, ticking) as View<Row | TurnMark | Edits>,
	);
	const end = createEnd(context);
	const waiting = createWaiting();
	const lists = [log, answer.element];
	const updateNumbers = viewsIn(context, "answer").map((create) => create(context, lists));

	return {
		element: scroll,
		answer: answer.element,
		update(snapshot) {
			const { state } = snapshot;
			promptImages.update(state.images);
			const above = answer.update(snapshot);
			const rows = state.rows.filter((row) => row !== above);
			updateList(foldEdits(context.choices.replay ? withTurns(state) : [...rows, ...calledRows(context)]));
			log.classList.toggle("ended", !state.busy && state.rows.some(hasRunCode));
			place(log, end.element, end.update(snapshot));
			for (const update of updateNumbers) update(snapshot);
			this.tick(snapshot);
		},
		tick(snapshot) {
			place(log, waiting.element, !context.choices.replay && waiting.update(snapshot));
			for (const tick of ticking) tick(snapshot);
		},
	};
}

/** The answer, and the names that code has left. */
function createAnswerList(context: Context) {
	const element = h("ol", { class: "anb-log anb-final" });
	const updateText = createAnswer(context, element);
	const leftNames = createLeftNames(context);
	const lastRows = viewsIn(context, "row").map((create) => create(context));
	return {
		element,
		/** Returns the row of the transcript that it shows in its place. */
		update(snapshot: Snapshot): StreamRow | null {
			const { state } = snapshot;
			const text = isReadFirst(context, snapshot) && !hasResult(state) ? answerOf(state) : null;
			updateText(state, text);
			for (const row of lastRows) place(element, row.element, row.update(snapshot));
			if (leftNames.update(!state.busy && state.rows.some(hasRunCode) ? state.rows : []))
				element.append(leftNames.element);
			return text;
		},
	};
}

/** Whether a row is a call whose code has run, at least in part. */
function hasRunCode(row: Row): boolean {
	return row.kind === "tool" && codeOf(row) !== null && (row.status === "ok" || row.outputs.length > 0);
}

/** Shows or removes a last row. */
function place(log: HTMLElement, element: HTMLElement, isVisible: boolean): void {
	if (!isVisible) element.remove();
	else if (log.lastChild !== element) log.append(element);
}

/** A line for each notebook function that the page has called. */
function calledRows({ run, choices }: Context): LineRow[] {
	return [...(run.link(choices.variant)?.called ?? [])].map((name) => ({
		kind: "line",
		key: `called-${name}`,
		turn: 0,
		state: "info",
		title: `The page calls \`${name}\``,
		detail: "",
	}));
}

/** The names that a run's code has left, below its answer. */
function createLeftNames(context: Context) {
	const element = h("li", { class: "anb-item" });
	const parts = viewsIn(context, "names").map((create) => create(context));
	let drawn: readonly Row[] = [];
	let undone: readonly string[] = [];
	return {
		element,
		/** Returns whether it was redrawn, for new rows or after an undo. */
		update(rows: readonly Row[]): boolean {
			for (const part of parts) part.update();
			const { undone: now = [] } = context.run.state?.meta ?? {};
			const same = rows === drawn && now.length === undone.length;
			if (same || (rows.length === 0 && drawn.length === 0)) return false;
			[drawn, undone] = [rows, now];
			if (rows.length === 0) element.remove();
			else {
				const left = createLeft(context, rows, ...parts.map(({ inRow }) => inRow));
				element.replaceChildren(left, ...parts.map(({ below }) => below));
			}
			return rows.length > 0;
		},
	};
}

/** The start of a turn, shown in a replay: a request was sent there. */
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
	const onclick = (): void => {
		context.choices.request = turn;
		context.redraw();
	};
	const button = h("button", { title: "Show what was sent in this turn", onclick }, `turn ${turn}: request`);
	return { element: h("li", { class: "anb-turn" }, button), update() {} };
}

function createRow(context: Context, row: Row | TurnMark | Edits, ticking: Ticking): View<never> {
	switch (row.kind) {
		case "turn":
			return createTurn(context, row);
		case "edits":
			return createEdits(context, ticking);
		case "thinking":
			return createThinking(context, ticking);
		case "text":
			return createText(context);
		case "tool":
			return createToolRow(context, row, ticking);
		case "retry":
			return createRetry(ticking);
		case "line":
			return createLine(row);
	}
}

function createThinking(context: Context, ticking: Ticking): View<StreamRow> {
	const label = h("span", { class: "lab" });
	const time = h("span", { class: "end num" });
	const text = h("div", { class: "anb-think anb-md" });
	const markdown = new Markdown(text);
	const detail = h("div", { class: "anb-detail" }, text, markdown.rest.element);
	const summary = h("summary", { class: "anb-row" }, label, icon("right", "chev"), time);
	const fold = createFold(context, summary, detail);
	const element = createItem("think", fold.element);
	let row: StreamRow | null = null;
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
			toggle(ticking, tick, live);
			if (!live) setText(time, "");
		},
	};
}

function thinkingLabel({ from, to }: StreamRow): string {
	if (to === null) return "Thinking";
	return to - from < 0.05 ? "Thought" : `Thought for ${seconds(to - from)}`;
}

function createLine({ state }: LineRow): View<LineRow> {
	const label = h("span", { class: "lab" });
	const entries = h("ul", { class: "anb-plan" });
	const row = h("div", { class: "anb-row still" }, label);
	return {
		element: createItem(state === "retry" ? "retry" : null, row, entries),
		update({ title, detail, plan = [] }) {
			label.replaceChildren(...withCode(detail ? `${title}: ${detail}` : title));
			entries.hidden = plan.length === 0;
			setChildren(entries, plan, () => plan.map(createEntry));
		},
	};
}

const ENTRY_MARKS: Record<PlanEntry["status"], [mark: string, words: string]> = {
	completed: ["✓", "done"],
	in_progress: ["▸", "in progress"],
	pending: ["○", "not begun"],
};

function createEntry({ text, status }: PlanEntry): HTMLElement {
	const [mark, words] = ENTRY_MARKS[status];
	const spoken = h("span", { class: "anb-sr" }, `${words}: `);
	const body = h("span", null, ...withCode(text));
	return h("li", { class: status }, h("span", { class: "mark", "aria-hidden": "true" }, mark), spoken, body);
}

/** The images and PDFs attached to the prompt, above the transcript. */
export function createPromptImages() {
	const element = h("div", { class: "anb-given", role: "group", "aria-label": "Attached files" });
	return {
		element,
		update(images: readonly Thumbnail[]) {
			element.hidden = images.length === 0;
			setChildren(element, images, () => images.map(createImage));
		},
	};
}

function createImage({ name, width, height, data, size }: Thumbnail, index: number): HTMLElement {
	const caption = name || `image ${index + 1}`;
	const title = `${caption} (${size ? bytes(size) : `${width} x ${height}`})`;
	return h(
		"figure",
		{ title, class: size ? "file" : null },
		data && h("img", { src: `data:image/jpeg;base64,${data}`, alt: title }),
		h("figcaption", { "aria-hidden": data ? "true" : null }, size ? title : caption),
	);
}

/** Seconds after which the line appears: most answers start sooner. */
const SHOWN_AFTER = 3;
const REMOTE =
	"No response yet. The server may be busy, the network slow, or a proxy may be buffering the answer. Keep waiting, or stop and try again, perhaps with another model (`-m`). `%config AgentMagics.silence` sets the timeout in seconds.";
const OWN =
	"No response yet. Your server may still be loading the model or reading the prompt: `--lean` shortens it. See the server's log. `%config AgentMagics.silence` sets the timeout in seconds.";

/** The last line while the model is silent: for how long, and possible causes. */
function createWaiting() {
	const label = h("span", { class: "lab" });
	const advice = h("div", { class: "anb-detail anb-think", role: "status" });
	const element = createItem("think", h("div", { class: "anb-row still" }, label), advice);

	return {
		element,
		/** Returns whether it is visible. */
		update({ state, now }: Snapshot): boolean {
			const silent = now - state.at;
			if (!isWaiting(state) || silent < SHOWN_AFTER) return false;
			const { text } = waitingPhase(silent);
			label.textContent = text[0]?.toUpperCase() + text.slice(1);
			const says = silent < WAITS_LONG ? "" : state.settings.server ? OWN : REMOTE;
			setChildren(advice, says, () => withCode(says));
			return true;
		},
	};
}

/** The countdown while a run waits to send a failed request again. */
function createRetry(ticking: Ticking): View<RetryRow> {
	const ring = h("div", { class: "anb-ring num", "aria-hidden": "true" });
	const title = h("h4");
	const why = h("p", { class: "sub" });
	const text = h("div", null, title, why, h("p", { class: "sub" }, "Files are kept; this turn starts over."));
	const header = h("header", null, ring, text);
	const card = h("div", { class: "anb-card ask", role: "alert" }, header);
	const element = createItem("retry", card);
	element.classList.add("ask");
	let row: RetryRow | null = null;
	/** Draws the remaining seconds, in a ring that empties. */
	const tick = ({ now, state }: Snapshot): void => {
		if (!row || retryOf(state)?.key !== row.key) {
			ticking.delete(tick);
			return;
		}
		const remaining = Math.max(0, row.wait - (now - row.from));
		setText(ring, String(retrySeconds(remaining)));
		ring.style.setProperty("--left", `${row.wait > 0 ? (100 * remaining) / row.wait : 0}%`);
	};

	return {
		element,
		update(next) {
			row = next;
			setText(title, next.title);
			why.replaceChildren(...withCode(next.why));
			ticking.add(tick);
		},
	};
}

export interface Edits {
	readonly kind: "edits";
	readonly key: string;
	readonly path: string;
	readonly rows: readonly ToolRow[];
}

function editedPath(item: { kind: string }): string | null {
	const row = item as Row;
	return row.kind === "tool" && row.status === "ok" && row.change?.action === "edited"
		? row.change.path
		: null;
}

/** Merges consecutive edits of a file into one item. */
export function foldEdits<T extends { kind: string; key: string }>(items: readonly T[]): (T | Edits)[] {
	const folded: (T | Edits)[] = [];
	for (let first = 0; first < items.length; ) {
		const item = items[first] as T;
		const path = editedPath(item);
		let end = first + 1;
		while (path !== null && end < items.length && editedPath(items[end] as T) === path) end++;
		const rows = items.slice(first, end) as unknown as ToolRow[];
		folded.push(
			path === null || rows.length === 1 ? item : { kind: "edits", key: `edits-${item.key}`, path, rows },
		);
		first = end;
	}
	return folded;
}

function createEdits(context: Context, ticking: Ticking): View<Edits> {
	const label = h("span", { class: "lab" });
	const facts = h("span", { class: "facts" });
	const mark = h("span", { class: "mark" }, h("span", { class: "ok" }, icon("check")));
	const done = h("span", { class: "anb-sr" }, "succeeded");
	const end = h("span", { class: "end num" }, facts, mark, done);
	const log = h("ol", { class: "anb-log anb-edits" });
	const summary = h("summary", { class: "anb-row" }, label, icon("right", "chev"), end);
	const fold = createFold(context, summary, log);
	const updateList = createKeyedList<ToolRow>(
		log,
		(row) => row.key,
		(row) => createToolRow(context, row, ticking),
	);
	let drawn: readonly ToolRow[] = [];
	return {
		element: createItem("edit", fold.element),
		update({ key, path, rows }) {
			fold.set(key, false);
			// `foldEdits` creates a new item for each draw.
			if (rows.length === drawn.length && rows.every((row, index) => row === drawn[index])) return;
			drawn = rows;
			label.replaceChildren(`${rows.length} edits of `, h("code", null, path));
			const added = sumOf(rows, ({ change }) => change?.added ?? 0);
			facts.replaceChildren(
				...lineCounts(
					added,
					sumOf(rows, ({ change }) => change?.removed ?? 0),
				),
			);
			updateList(rows);
		},
	};
}
