// Detects whether the page is wider than its window, and which element causes it.

import type { Report } from "./messages.ts";

/** Maximum elements to measure. */
const MOST = 5000;
const DEPTH = 3;

export function findOverflow(): Report["overflow"] {
	const root = document.documentElement;
	const pixels = (document.scrollingElement ?? root).scrollWidth - root.clientWidth;
	if (pixels < 1) return null;
	let widest: { element: Element; right: number } = { element: root, right: root.clientWidth };
	for (const element of [...document.body.querySelectorAll("*")].slice(0, MOST)) {
		const { right, width } = element.getBoundingClientRect();
		// Of several that reach equally far, the first contains the others.
		if (width > 0 && right > widest.right + 0.5 && widens(element)) widest = { element, right };
	}
	return { pixels, selector: selectorOf(widest.element) };
}

/** Whether the element widens the page: not if an ancestor scrolls or clips it. */
function widens(element: Element): boolean {
	if (getComputedStyle(element).position === "fixed") return false;
	for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
		if (getComputedStyle(at).overflowX !== "visible") return false;
	}
	return true;
}

function selectorOf(element: Element): string {
	const parts: string[] = [];
	for (let at: Element | null = element; at && parts.length < DEPTH; at = at.parentElement) {
		if (at === document.body || at === document.documentElement) break;
		if (at.id) {
			parts.unshift(`#${CSS.escape(at.id)}`);
			break;
		}
		parts.unshift(nameOf(at));
	}
	return parts.join(" > ") || "body";
}

/** The tag with its first class, or with its index among siblings of that tag. */
function nameOf(element: Element): string {
	const { localName, classList, parentElement } = element;
	if (classList[0]) return `${localName}.${CSS.escape(classList[0])}`;
	const alike = [...(parentElement?.children ?? [])].filter((sibling) => sibling.localName === localName);
	return alike.length > 1 ? `${localName}:nth-of-type(${alike.indexOf(element) + 1})` : localName;
}
