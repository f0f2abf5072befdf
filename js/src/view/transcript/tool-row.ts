// A tool call and its result as one row. It draws title, status, summary and outputs, independent of the tool.

import {
	createLazyView,
	h,
	icon,
	setAttribute,
	setChildren,
	setText,
	toggle,
	type View,
	withCode,
} from "../../base/dom.ts";
import { bytes, plural, seconds } from "../../base/format.ts";
import type { IconName } from "../../base/icons.ts";
import { changedNames, readable } from "../../base/json.ts";
import { createLongText } from "../../base/long-text.ts";
import { printable } from "../../base/printable.ts";
import { isQuestion } from "../../run/questions.ts";
import { type ToolRow, type ToolStatus, textOf } from "../../run/state.ts";
import { decisionText } from "../../run/tool-call.ts";
import { currentState } from "../actions.ts";
import { type Context, follow, type Snapshot, STOP_HINT, type Ticking } from "../context.ts";
import { textButton } from "../shared/buttons.ts";
import { createFold } from "../shared/fold.ts";
import { Approval } from "./approval.ts";
import { coloured, createChange } from "./arguments.ts";
import { createLiveOutputs, createOutputs } from "./outputs.ts";

const TAIL = 1200;

export function createToolRow(context: Context, first: ToolRow, ticking: Ticking): View<ToolRow> {
	const line = createLine();
	const detail = h("div", { class: "anb-detail" });
	const drawDetail = createDetail(context, detail);
	const fold = createFold(context, line.element, detail);
	const node = h("span", { class: "anb-node" });
	const question = createLazyView(isAsking, (row) => new Approval(context, row));
	const props = { class: "anb-item", "data-call": first.call_id };
	const element = h("li", props, node, fold.element, question.element);
	let row = first;
	let drawn = false;
	const offer = (snapshot: Snapshot): void => question.view?.offer(snapshot);
	const tick = ({ now }: Snapshot): void => line.setTime(seconds(Math.max(0, now - row.from)));

	function drawRow(): void {
		const look = {
			live: isLive(row),
			bad: row.status === "failed",
			ask: isAsking(row),
			step: runsCode(row),
		};
		for (const [name, on] of Object.entries(look)) element.classList.toggle(name, on);
		const glyph = look.ask ? "pause" : glyphOf(row);
		setChildren(node, glyph, () => [icon(glyph)]);
		line.update(row);
		toggle(ticking, tick, look.live);
		toggle(ticking, offer, look.ask);
		drawn = true;
	}

	return {
		element,
		update(next) {
			const before = row;
			row = next;
			if (drawn && onlyGrew(before, next)) line.setFacts(next);
			else drawRow();
			fold.element.hidden = isAsking(row);
			question.update(row);
			drawDetail(row);
			fold.set(row.key, opensItself(row), !isAsking(row) && !isLive(row));
		},
	};
}

function isAsking({ status }: ToolRow): boolean {
	return status === "asking";
}

function isLive({ status }: ToolRow): boolean {
	return status === "writing" || status === "running";
}

/** Whether only the text that the call writes has changed. */
function onlyGrew(before: ToolRow, next: ToolRow): boolean {
	return (
		before !== next &&
		before.status === "writing" &&
		next.status === "writing" &&
		before.path === next.path &&
		before.title === next.title
	);
}

/** The line that sums up a call: its title, what it wrote, how long it took and how it ended. */
function createLine() {
	const label = h("span", { class: "lab" });
	const facts = h("span", { class: "facts" });
	const time = h("span");
	const mark = h("span", { class: "mark" });
	const end = h("span", { class: "end num" }, facts, time, mark);
	return {
		element: h("summary", { class: "anb-row" }, label, icon("right", "chev"), end),
		setTime: (text: string) => setText(time, text),
		setFacts: (row: ToolRow) => facts.replaceChildren(...factsOf(row)),
		update(row: ToolRow) {
			label.replaceChildren(...titleOf(row));
			label.classList.toggle("anb-live", isLive(row));
			facts.replaceChildren(...factsOf(row));
			mark.replaceChildren(...markOf(row));
			setText(time, timeOf(row));
		},
	};
}

/** The duration of the tool; empty for a denied call, where it is the time the user took to decide. */
function timeOf({ seconds: took, status }: ToolRow): string {
	return took === null || took < 0.05 || status === "denied" ? "" : seconds(took);
}

/** Whether a row is open by default: while it works, if it failed, or if it has code, a user's note or an image. */
function opensItself(row: ToolRow): boolean {
	if (row.status === "failed" || row.status === "writing" || runsCode(row)) return true;
	if (row.status === "running") return row.progress !== "" || row.outputs.length > 0;
	if (row.answer?.note) return true;
	return hasImage(row);
}

function runsCode(row: ToolRow): boolean {
	return codeOf(row) !== null;
}

function hasImage(row: ToolRow): boolean {
	return row.outputs.some((bundle) => Object.keys(bundle).some((type) => type.startsWith("image/")));
}

/** The icon on the transcript's rail, by kind of call. */
function glyphOf(row: ToolRow): IconName {
	if (hasImage(row)) return "image";
	if (row.change) return row.change.action === "created" ? "create" : "edit";
	if (row.path) return "create";
	return targetOf(row) ? "file" : "tool";
}

/** The file that a call writes, or that its arguments name; null if it writes several. */
function targetOf(row: ToolRow): string | null {
	if (row.change) return row.change.path;
	const argument = row.args?.path;
	return row.path ?? (typeof argument === "string" ? argument : null);
}

/** The title, with the file formatted as code, or with the arguments if it does not contain them. */
function titleOf(row: ToolRow): Node[] {
	const target = targetOf(row);
	if (!target) return [...withCode(row.title), ...argumentsAfter(row)];
	const at = row.title.indexOf(target);
	const [lead, tail] =
		at < 0 ? [`${row.title} `, ""] : [row.title.slice(0, at), row.title.slice(at + target.length)];
	return [document.createTextNode(lead), h("code", null, target), document.createTextNode(tail)];
}

const LONGEST_VALUES = 80;

/** The values of the arguments: `order` was called with `3, tickets`. */
function argumentsAfter({ title, titled, args, change }: ToolRow): Node[] {
	const values = Object.values(args ?? {})
		.filter((value) => typeof value !== "object")
		.map((value) => readable(value));
	if (change || titled || values.length === 0 || values.some((value) => title.includes(value))) return [];
	const text = values.join(", ").replace(/\s+/g, " ");
	return [h("span", { class: "args" }, ` ${text.slice(0, LONGEST_VALUES)}`)];
}

function factsOf(row: ToolRow): Node[] {
	const { proposed, by } = row.answer ?? {};
	const who = by === "function" ? "your function" : "you";
	return [...(proposed ? [h("span", null, `changed by ${who}`)] : []), ...sizeOf(row)];
}

function sizeOf(row: ToolRow): Node[] {
	const { change } = row;
	if (change?.action === "edited" && change.added + change.removed > 0)
		return lineCounts(change.added, change.removed);
	const size = change ? change.size : row.written;
	return size ? [h("span", null, bytes(size))] : [];
}

export function lineCounts(added: number, removed: number): HTMLElement[] {
	return [h("span", { class: "add" }, `+${added}`), h("span", { class: "del" }, `−${removed}`)];
}

function markOf(row: ToolRow): Node[] {
	const spoken = (words: string): HTMLElement => h("span", { class: "anb-sr" }, words);
	if (row.status === "ok") return [h("span", { class: "ok" }, icon("check")), spoken("succeeded")];
	if (row.status === "failed") return [h("span", { class: "bad" }, icon("cross")), spoken("failed")];
	if (row.status === "denied") return [h("span", { class: "denied" }, icon("denied"), "denied")];
	return row.status === "stopped" ? [icon("stopped"), spoken("stopped")] : [];
}

/**
 * The content of a row: the newest lines of a file while it is written, then progress, arguments, outputs or the error.
 * Code comes first.
 */
function createDetail(context: Context, detail: HTMLElement): (row: ToolRow) => void {
	const tail = h("pre");
	const tailBox = h("div", { class: "anb-code tail" }, tail);
	const progress = h("p", { class: "anb-note" });
	const live = createLiveOutputs(context);
	const code = createCodeCell();
	let drawn: HTMLElement | ToolStatus | null | undefined;

	function drawLive(row: ToolRow): void {
		const text = row.path ? writtenText(context, row) : row.args_text;
		setText(tail, text.slice(-TAIL));
		setText(progress, row.progress);
		live.update(row.outputs);
		const writes = text !== "" && row.status === "writing" && !runsCode(row);
		const parts = [row.outputs.length && live.element, row.progress && progress, writes && tailBox];
		const visible = parts.find((part) => part instanceof HTMLElement) ?? null;
		if (drawn !== visible) fill(row, visible ? [visible] : []);
		drawn = visible;
	}

	function fill(row: ToolRow, nodes: readonly Node[]): void {
		detail.replaceChildren(...(runsCode(row) ? [code.element] : []), ...nodes);
	}

	return (row) => {
		code.update(codeOf(row) ?? "");
		if (isLive(row)) drawLive(row);
		else if (drawn !== row.status) {
			drawn = row.status;
			fill(row, resultOf(context, row));
		}
	};
}

function writtenText(context: Context, row: ToolRow): string {
	const file = currentState(context).files.get(row.path ?? "");
	return file?.draft?.call_id === row.call_id ? (textOf(file) ?? "") : "";
}

function resultOf(context: Context, row: ToolRow): Node[] {
	const outputs = [...createOutputs(context, row.outputs, codeOf(row)), ...createHeldBack(context, row)];
	// What was approved is shown, even if a file shows the effect.
	const args = row.change && !row.answer ? [] : argumentsOf(row);
	if (runsCode(row))
		return [...outputs, ...(row.status === "ok" ? [] : endOf(row)), ...answerOf(row), ...args];
	return [...endOf(row), ...answerOf(row), ...outputs, ...args];
}

/** How the call ended, in words. */
function endOf(row: ToolRow): Node[] {
	if (row.status === "failed") {
		const hint = row.hint && h("p", { class: "hint" }, row.hint);
		return [h("div", { class: "anb-note err" }, h("p", null, row.summary || "Failed."), hint || null)];
	}
	const stopped = row.status === "stopped" && (row.summary || "Stopped before it finished.");
	const text = row.status === "denied" ? whyDenied(row) : stopped || row.summary;
	return text ? [h("p", { class: "anb-cap first" }, text)] : [];
}

/** If nobody could answer, the summary also says what to do about it. */
function whyDenied(row: ToolRow): string {
	const nobody = row.answer?.by === "nobody" && row.summary;
	return nobody || captionOf(row) || row.summary || "Denied.";
}

/** Who decided, and how. */
function captionOf({ answer }: ToolRow): string {
	const text = answer ? decisionText(answer) : "";
	return text && `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

/** The user's decision, with the note to the model and the edited arguments. */
function answerOf(row: ToolRow): Node[] {
	const { answer, args } = row;
	if (!answer || isQuestion(row)) return []; // the answer to a question is its result
	const proposed = answer.proposed ?? args ?? {};
	const changes = changedNames(proposed, args ?? {});
	const decision = row.status === "denied" ? "" : captionOf(row);
	return [
		...(decision ? [h("p", { class: "anb-cap" }, decision)] : []),
		...(answer.note
			? [h("p", { class: "anb-cap answer" }, "Note to the model: ", h("q", null, answer.note))]
			: []),
		...changes.flatMap((name) => [
			h("p", { class: "anb-cap" }, h("code", null, printable(name)), " was changed:"),
			createChange(name, proposed, args ?? {}),
		]),
	];
}

/** The arguments other than code, which is shown by itself. */
function argumentsOf(row: ToolRow): Node[] {
	const entries = Object.entries(row.args ?? {}).filter(([name]) => name !== "code" || !runsCode(row));
	if (entries.length === 0) return [];
	const text = entries.map(([name, value]) => `${name}: ${readable(value)}`).join("\n");
	const summary = h("summary", null, icon("right", "chev"), "arguments");
	return [h("details", { class: "anb-args" }, summary, ...createLongText(text))];
}

/** The line below an output of a run that sends no values: the model has not seen it, with a button to share it. */
function createHeldBack(context: Context, row: ToolRow): Node[] {
	const { run, choices, notify } = context;
	if (currentState(context).settings.data !== "schema" || row.change || isQuestion(row)) return [];
	const line = h("p", { class: "anb-cap" }, "Only you see this. The model got names, types and shapes.");
	if (!run.busy || choices.replay) return [line];
	const button = textButton("Show the model", () => {
		const reply = run.command("show_output", { variant: choices.variant, call_id: row.call_id });
		follow(context, reply, STOP_HINT, (result) => {
			button.disabled = result.done;
			notify(result.done ? "It goes to the model with the next result." : result.why);
		});
	});
	return [line, button];
}

/** The argument `code` in incomplete JSON. */
const WRITTEN = /^\s*\{\s*"code"\s*:\s*"((?:[^"\\]|\\u[0-9a-f]{4}|\\[^u])*)/i;

/** The code that a call runs, or has written so far; null for a call without code. */
export function codeOf({ args, args_text }: ToolRow): string | null {
	const code = args ? args.code : writtenCode(args_text);
	return typeof code === "string" ? code : null;
}

function writtenCode(json: string): string | undefined {
	const code = WRITTEN.exec(json)?.[1];
	try {
		return code && JSON.parse(`"${code}"`);
	} catch {
		return undefined;
	}
}

function createCodeCell() {
	const label = h("span");
	const text = h("pre");
	const summary = h("summary", null, icon("right", "chev"), label);
	return {
		element: h("details", { class: "anb-source", open: true }, summary, text),
		update(code: string) {
			const lines = `${plural(code.trimEnd().split("\n").length, "line")} of code`;
			setText(label, lines);
			setAttribute(summary, "aria-label", lines); // the label is hidden while the code is open
			setChildren(text, code, () => coloured("py", printable(code.trimEnd())));
		},
	};
}
