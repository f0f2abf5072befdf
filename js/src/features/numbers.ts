// Marks the numbers in the answers of runs with code or data: a number that the kernel has found in an output links to
// that output, the others are listed below the answer. If no code was run, a line above the answer says so.

import { h, listen, setChildren } from "../base/dom.ts";
import type { AnswerNumber, ShownNumbers } from "../run/events.ts";
import type { RunState } from "../run/run-state.ts";
import type { Variant } from "../run/variants.ts";
import { type Context, type FeatureView, type Snapshot, shownOf, type VariantPart } from "../view/context.ts";

/** Content that the kernel does not search: code, and the buttons beside it. */
const NOT_COUNTED = "pre, code, .anb-snippet, .anb-uncomputed";
const NONE: ShownNumbers = { table: [], above: "", below: "" };

/** The numbers of a variant's answer, once they have arrived. */
export function numbersOf(run: RunState, { number, state }: Pick<Variant, "number" | "state">): ShownNumbers {
	return (state.busy ? null : shownOf(run, "numbers", number)) ?? NONE;
}

/** A line of words about numbers that nothing computed; nothing if it is empty. */
function uncomputedLine(text: string): HTMLElement[] {
	return text ? [h("p", { class: "anb-uncomputed" }, text)] : [];
}

/** Marks the numbers in the last text of a transcript and in the answer below it. */
function createNumbers(context: Context, lists: readonly HTMLElement[]): (snapshot: Snapshot) => void {
	let drawn = NONE;
	let marked: Element | undefined;
	const all = (selector: string): HTMLElement[] =>
		lists.flatMap((list) => [...list.querySelectorAll<HTMLElement>(selector)]);

	function press(event: MouseEvent): void {
		const number = (event.target as Element).closest<HTMLElement>("a.anb-number");
		if (!number) return;
		event.preventDefault();
		context.choices.unfolded = true;
		context.draw();
		show(all("[data-call]"), number.dataset.output ?? "");
	}
	for (const list of lists) listen(list, "click", context.signal, press);
	return ({ run, state }) => {
		const numbers = numbersOf(run, { number: context.choices.variant, state });
		const answer = all(":scope > li > .anb-say").at(-1);
		if (numbers === drawn && answer === marked) return;
		drawn = numbers;
		marked = answer;
		const typed = all(":scope > li > .anb-typed")[0];
		for (const words of all(".anb-uncomputed")) words.remove();
		for (const mark of all(".anb-number")) mark.replaceWith(...mark.childNodes);
		answer?.normalize();
		if (answer) markText(answer, numbers.table);
		if (typed) markEntries(typed, numbers);
		answer?.prepend(...uncomputedLine(numbers.above));
		(typed ?? answer)?.append(...uncomputedLine(numbers.below));
	};
}

/** The line below the text of a variant. */
function createLine(): VariantPart {
	const element = h("div");
	return {
		element,
		update(variant, { run }) {
			const { below } = numbersOf(run, variant);
			setChildren(element, below, () => uncomputedLine(below));
		},
	};
}

export const numbers: FeatureView = { answer: createNumbers, cell: createLine };

/** Marks the values in a table whose numbers nothing computed, and says so after each. */
export function markEntries(table: Element, numbers: ShownNumbers): void {
	for (const entry of table.querySelectorAll<HTMLElement>("[data-path]")) {
		const texts = uncomputedIn(numbers, entry.dataset.path ?? "");
		if (!texts.length) continue;
		const isNumber = Number(entry.textContent) === Number(texts[0]);
		if (isNumber) wrap(createMark(""), ...entry.childNodes);
		const words = isNumber ? "not computed" : `not computed: ${texts.join(", ")}`;
		entry.append(h("span", { class: "anb-uncomputed" }, ` (${words})`));
	}
}

/** The numbers in a value of an answer, given by its JSON pointer, that nothing computed. */
export function uncomputedIn({ table }: ShownNumbers, pointer: string): string[] {
	const missing = table.filter(({ path, call_id }) => path !== null && !call_id);
	const inside = missing.filter(({ path }) => `${path}/`.startsWith(`${pointer}/`));
	return [...new Set(inside.map(({ text }) => text))];
}

function createMark(callId: string): HTMLElement {
	return callId
		? h("a", { class: "anb-number", href: "#", title: "Show the output", "data-output": callId })
		: h("span", { class: "anb-number none", title: "Not computed by any code in this run" });
}

function cut(node: Text, start: number, length: number): Text {
	const part = node.splitText(start);
	part.splitText(length);
	return part;
}

function wrap(element: HTMLElement, ...nodes: ChildNode[]): void {
	nodes[0]?.replaceWith(element);
	element.append(...nodes);
}

function markText(answer: Element, numbers: readonly AnswerNumber[]): void {
	const texts = textsOf(answer);
	// From last to first, so that splitting a text node does not affect the remaining numbers.
	for (const { start, text, call_id } of numbers.filter(({ path }) => path === null).reverse()) {
		while (texts.length > 1 && texts.at(-1)!.start > start) texts.pop();
		const last = texts.at(-1);
		const at = start - (last?.start ?? 0);
		if (!last || last.node.data.slice(at, at + text.length) !== text) continue;
		const parent = last.node.parentElement;
		if (parent?.closest(call_id ? "a, .anb-number" : ".none")) continue;
		// The typesetter replaces the text of a formula, so a formula is marked as a whole.
		wrap(createMark(call_id), parent?.closest(".anb-math, .anb-formula") ?? cut(last.node, at, text.length));
	}
}

function textsOf(answer: Element): { start: number; node: Text }[] {
	const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
	const texts = [];
	for (let start = 0; walker.nextNode(); ) {
		const node = walker.currentNode as Text;
		if (node.parentElement?.closest(NOT_COUNTED)) continue;
		texts.push({ start, node });
		start += node.length;
	}
	return texts;
}

/** Scrolls to the call with this output. */
function show(rows: readonly HTMLElement[], callId: string): void {
	for (const row of rows) {
		const isMatch = row.dataset.call === callId;
		row.classList.toggle("found", isMatch);
		if (!isMatch) continue;
		for (const details of row.querySelectorAll(":scope > details")) details.toggleAttribute("open", true);
		row.querySelector("summary")?.focus({ preventScroll: true });
		row.scrollIntoView({ block: "nearest" });
	}
}
