// Marks the numbers in the answer of a run with code or data: a number that the kernel has found in an output links to
// that output. If no code was run, a line above the answer says so.

import { h, listen } from "../../dom.ts";
import type { AnswerNumber } from "../../events.ts";
import { type Context, isBound, type Snapshot } from "../context.ts";

/** Content that the kernel does not search: code, and the buttons beside it. */
const NOT_COUNTED = "pre, code, .anb-snippet";

/** Marks the numbers in the last text of a transcript, once they have arrived and unless a replay is open. */
export function createNumbers(context: Context, log: HTMLElement): (snapshot: Snapshot) => void {
	let drawn: readonly AnswerNumber[] | null = null;
	listen(log, "click", context.signal, (event) => {
		const number = (event.target as Element).closest<HTMLElement>("a.anb-number");
		if (!number) return;
		event.preventDefault();
		show(log, number.dataset.output ?? "");
	});
	return ({ run: { ready, meta }, state }) => {
		const { numbers = null, numbers_note = "" } = state.busy || !isBound(context) ? {} : (ready ?? meta);
		if (numbers === drawn) return;
		drawn = numbers;
		const answer = [...log.querySelectorAll(":scope > li > .anb-say")].at(-1);
		for (const note of log.querySelectorAll(".anb-uncomputed")) note.remove();
		for (const mark of log.querySelectorAll(".anb-number")) mark.replaceWith(...mark.childNodes);
		answer?.normalize();
		if (answer && numbers) mark(answer, numbers);
		if (numbers_note) answer?.prepend(h("p", { class: "anb-uncomputed" }, numbers_note));
	};
}

function mark(answer: Element, numbers: readonly AnswerNumber[]): void {
	const texts = textsOf(answer);
	// From last to first, so that splitting a text node does not affect the remaining numbers.
	for (const { start, text, call_id } of [...numbers].reverse()) {
		while (texts.length > 1 && texts.at(-1)!.start > start) texts.pop();
		const last = texts.at(-1);
		const at = start - (last?.start ?? 0);
		if (!last || last.node.data.slice(at, at + text.length) !== text) continue;
		if (last.node.parentElement?.closest("a")) continue;
		const number = last.node.splitText(at);
		number.splitText(text.length);
		const element = call_id
			? h("a", { class: "anb-number", href: "#", title: "Show the output", "data-output": call_id })
			: h("span", { class: "anb-number none", title: "Not computed by any code in this run" });
		number.replaceWith(element);
		element.append(number);
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
function show(log: HTMLElement, callId: string): void {
	for (const row of log.querySelectorAll<HTMLElement>("[data-call]")) {
		const isMatch = row.dataset.call === callId;
		row.classList.toggle("found", isMatch);
		if (!isMatch) continue;
		for (const details of row.querySelectorAll(":scope > details")) details.toggleAttribute("open", true);
		row.querySelector("summary")?.focus({ preventScroll: true });
		row.scrollIntoView({ block: "nearest" });
	}
}
