// Runs inside the previewed page: finds elements and reports their positions. It changes nothing there.

import type { ElementMatch, ElementQuery, PathStep } from "./messages.ts";

declare const given: { port: MessagePort };

const { port } = given;
let at: Element | null = null;

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

function report(): void {
	if (!at?.isConnected) return;
	const { x, y, width, height } = at.getBoundingClientRect();
	port.postMessage({ steps: stepsTo(at), box: [x, y, width, height] } satisfies ElementMatch);
}

port.onmessage = ({ data }: MessageEvent<ElementQuery>) => {
	const element = find(data) ?? at ?? document.body;
	at = element === document.documentElement ? document.body : (element.closest("svg") ?? element);
	report();
};
addEventListener("scroll", report, { capture: true, passive: true });
addEventListener("resize", report);
