// A diff as a table, from a unified diff, from a text and a patch, or from two texts.

import { h } from "../../base/dom.ts";
import type { LinePatch } from "../../run/events.ts";

export interface DiffLine {
	sign: "+" | "-" | " " | "@";
	/** The line number in the new text; for a removed line, in the old text. */
	number: number | null;
	text: string;
}

/** An array or a string. */
type Sequence<T> = { readonly length: number; at(index: number): T | undefined };

const CONTEXT = 3;
/** Maximum lines in a table. */
export const MOST = 2000;

export function parseUnifiedDiff(text: string): DiffLine[] {
	const lines: DiffLine[] = [];
	let oldLine = 0;
	let newLine = 0;
	for (const line of text.split("\n")) {
		const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
		if (head) {
			oldLine = Number(head[1]);
			newLine = Number(head[2]);
			lines.push({ sign: "@", number: null, text: head[3]?.trim() || `line ${newLine}` });
		} else if (/^(---|\+\+\+) /.test(line) && newLine === 0) {
			// The file names are in the card's title.
		} else if (line.startsWith("+")) lines.push({ sign: "+", number: newLine++, text: line.slice(1) });
		else if (line.startsWith("-")) lines.push({ sign: "-", number: oldLine++, text: line.slice(1) });
		else if (line.startsWith(" ")) {
			lines.push({ sign: " ", number: newLine++, text: line.slice(1) });
			oldLine++;
		}
	}
	return lines;
}

/** The changed lines with some context. */
export function linesOfPatch(before: string, patch: readonly LinePatch[]): DiffLine[] {
	const old = before.split("\n");
	const lines: DiffLine[] = [];
	let next = 0;
	let shift = 0;
	for (const [index, hunk] of patch.entries()) {
		const { start, removed, added } = trimmed(old, hunk);
		const from = Math.max(next, start - CONTEXT);
		if (from > next || index === 0) lines.push({ sign: "@", number: null, text: `line ${from + shift + 1}` });
		for (let at = from; at < start; at++)
			lines.push({ sign: " ", number: at + shift + 1, text: old[at] ?? "" });
		for (const [at, text] of removed.entries()) lines.push({ sign: "-", number: start + at + 1, text });
		for (const [at, text] of added.entries()) lines.push({ sign: "+", number: start + shift + at + 1, text });
		next = start + removed.length;
		shift += added.length - removed.length;
		const limit = Math.min(old.length, next + CONTEXT, patch[index + 1]?.[0] ?? old.length);
		for (; next < limit; next++) lines.push({ sign: " ", number: next + shift + 1, text: old[next] ?? "" });
	}
	return lines;
}

/** Maximum pairs of lines to compare; for longer texts, the first to the last change is shown as one change. */
const MOST_PAIRS = 4_000_000;

/** Every line of two texts. */
export function diffOf(before: string, after: string): DiffLine[] {
	const [old, now] = [before.split("\n"), after.split("\n")];
	const { start: head, removed, added } = trimmed(old, [0, old.length, after]);
	const lines: DiffLine[] = [];
	const put = (sign: "+" | "-" | " ", at: number, text = ""): number =>
		lines.push({ sign, number: at + 1, text });
	for (let at = 0; at < head; at++) put(" ", at, old[at]);
	const common = commonLengths(removed, added);
	let [one, two] = [0, 0];
	while (one < removed.length || two < added.length) {
		if (one < removed.length && removed[one] === added[two] && common(one, two) > 0) {
			put(" ", head + two, added[two]);
			one++;
			two++;
		} else if (
			one < removed.length &&
			(two >= added.length || common(one + 1, two) >= common(one, two + 1))
		) {
			put("-", head + one, removed[one]);
			one++;
		} else {
			put("+", head + two, added[two]);
			two++;
		}
	}
	for (let at = head + added.length; at < now.length; at++) put(" ", at, now[at]);
	return lines;
}

/** The length of the longest common subsequence after two positions. */
function commonLengths(
	one: readonly string[],
	two: readonly string[],
): (at: number, other: number) => number {
	const width = two.length + 1;
	if (one.length * two.length > MOST_PAIRS) return () => 0;
	const table = new Uint32Array((one.length + 1) * width);
	const get = (at: number, other: number): number => table[at * width + other] ?? 0;
	for (let at = one.length - 1; at >= 0; at--)
		for (let other = two.length - 1; other >= 0; other--)
			table[at * width + other] =
				one[at] === two[other]
					? get(at + 1, other + 1) + 1
					: Math.max(get(at + 1, other), get(at, other + 1));
	return get;
}

/** A hunk without the unchanged lines at its ends (a deletion comes with a neighbouring line). */
function trimmed(old: string[], [start, count, text]: LinePatch) {
	const removed = old.slice(start, start + count);
	const added = text.split("\n");
	const [head, tail] = commonEnds(removed, added);
	return {
		start: start + head,
		removed: removed.slice(head, removed.length - tail),
		added: added.slice(head, added.length - tail),
	};
}

/** How many items two sequences share at their beginning, and how many of the others at their end. */
function commonEnds<T>(one: Sequence<T>, two: Sequence<T>): [head: number, tail: number] {
	const most = Math.min(one.length, two.length);
	let [head, tail] = [0, 0];
	while (head < most && one.at(head) === two.at(head)) head++;
	while (tail < most - head && one.at(-1 - tail) === two.at(-1 - tail)) tail++;
	return [head, tail];
}

const CLASSES = { "+": "p", "-": "m", "@": "h", " ": "" };

export function createDiffTable(all: readonly DiffLine[]): HTMLElement {
	const lines = all.slice(0, MOST);
	const partners = pairs(lines);
	const rows = lines.map((line, index) => {
		const sign = line.sign === "@" ? "" : line.sign === "-" ? "−" : line.sign;
		const number = line.number === null ? "" : String(line.number);
		const text = h("td", null, ...marked(line.text, partners.get(index) ?? null));
		return h("tr", { class: CLASSES[line.sign] }, h("td", null, number), h("td", null, sign), text);
	});
	const omitted = all.length - lines.length;
	const more = omitted > 0 ? h("p", { class: "anb-cap" }, `and ${omitted} more lines`) : null;
	const table = h("table", null, h("tbody", null, ...rows));
	return h("div", { class: "anb-diff", tabindex: 0, role: "group", "aria-label": "Changes" }, table, more);
}

/** Pairs the changed lines of each block: the first removed with the first added, and so on. */
function pairs(lines: readonly DiffLine[]): Map<number, string> {
	const partners = new Map<number, string>();
	let at = 0;
	while (at < lines.length) {
		const removed = at;
		while (lines[at]?.sign === "-") at++;
		const added = at;
		while (lines[at]?.sign === "+") at++;
		for (let nth = 0; removed + nth < added && added + nth < at; nth++) {
			partners.set(removed + nth, lines[added + nth]?.text ?? "");
			partners.set(added + nth, lines[removed + nth]?.text ?? "");
		}
		if (at === removed) at++;
	}
	return partners;
}

const WORD = /[\w-]/;

/** Marks the words that differ from the other line, unless nearly all of them do. */
function marked(one: string, other: string | null): (Node | string)[] {
	if (other === null) return [one];
	const [begin, tail] = commonEnds(one, other);
	let head = begin;
	while (head > 0 && WORD.test(one[head - 1] ?? "")) head--;
	let end = one.length - tail;
	while (end < one.length && WORD.test(one[end] ?? "")) end++;
	const alike = head + one.length - end;
	if (end <= head || alike < one.trim().length / 4) return [one];
	return [one.slice(0, head), h("mark", null, one.slice(head, end)), one.slice(end)];
}
