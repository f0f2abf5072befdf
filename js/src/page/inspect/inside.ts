// Runs inside the previewed page: finds elements and reports their positions. It changes nothing there.

import type { Box, ElementMatch, ElementQuery, PathStep, Selection } from "./messages.ts";

declare const given: { port: MessagePort };

const { port } = given;
let at: Element | null = null;
const selected: (Element | null)[] = [];

function find(where: ElementQuery): Element | null {
	if ("x" in where) return document.elementFromPoint(where.x, where.y);
	if ("scroll" in where) {
		window.scrollBy({ left: where.scroll[0], top: where.scroll[1], behavior: "instant" });
		return at;
	}
	const next = moved(at ?? document.body, where.move);
	next?.scrollIntoView({ block: "nearest", behavior: "instant" });
	return next;
}

/** The next visible element in that direction. */
function moved(from: Element, direction: "parent" | "child" | "next" | "previous"): Element | null {
	if (direction === "parent") return from.parentElement;
	let next = direction === "child" ? from.firstElementChild : from;
	const sibling = direction === "previous" ? "previousElementSibling" : "nextElementSibling";
	if (direction !== "child") next = from[sibling];
	while (next && next.getClientRects().length === 0) next = next[sibling];
	return next;
}

function stepsTo(element: Element): PathStep[] {
	const steps: PathStep[] = [];
	for (let node = element; node.parentElement; node = node.parentElement) {
		const same = [...node.parentElement.children].filter((sibling) => sibling.localName === node.localName);
		steps.unshift([node.localName, same.indexOf(node) + 1, same.length]);
	}
	return steps;
}

function elementAt(steps: readonly PathStep[]): Element | null {
	let element: Element | null = document.documentElement;
	for (const [tag, number] of steps) {
		const same: Element[] = [...(element?.children ?? [])].filter(({ localName }) => localName === tag);
		element = same[number - 1] ?? null;
	}
	return element;
}

function boxOf(element: Element | null): Box {
	const { x, y, width, height } = element?.getBoundingClientRect() ?? new DOMRect();
	return [x, y, width, height];
}

function report(): void {
	if (!at?.isConnected) return;
	const match = { steps: stepsTo(at), box: boxOf(at), selected: selected.map(boxOf) };
	port.postMessage(match satisfies ElementMatch);
}

port.onmessage = ({ data }: MessageEvent<ElementQuery | Selection>) => {
	if ("select" in data) {
		selected.push(elementAt(data.select));
		return;
	}
	const element = find(data) ?? at ?? document.body;
	at = element === document.documentElement ? document.body : (element.closest("svg") ?? element);
	report();
};
addEventListener("scroll", report, { capture: true, passive: true });
addEventListener("resize", report);
