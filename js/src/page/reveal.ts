// Shows where a page was edited: scrolls there and highlights it once. The animation does not change the document.

const GLOWS = 1600;
const MOST_GLOWING = 20;

/** The smallest elements of `next` that differ from `old`. */
export function changes(old: Element, next: Element): Element[] {
	if (old.isEqualNode(next)) return [];
	const [before, after] = [[...old.children], [...next.children]];
	const same = (at: number): boolean => Boolean(before.at(at) && after.at(at)?.isEqualNode(before.at(at)!));
	const least = Math.min(before.length, after.length);
	let [head, tail] = [0, 0];
	while (head < least && same(head)) head++;
	while (head + tail < least && same(-1 - tail)) tail++;
	const gone = before.slice(head, before.length - tail);
	const come = after.slice(head, after.length - tail);
	if (come.length === 0) return [next];
	const alike =
		come.length === gone.length && come.every(({ localName }, at) => localName === gone[at]?.localName);
	return alike ? come.flatMap((element, at) => changes(gone[at]!, element)) : come;
}

/** The element of this document at the same position as one in another; null if the tags differ. */
function counterpart(element: Element): Element | null {
	const parent = element.localName === "body" ? null : element.parentElement;
	if (!parent) return document.body;
	const at = [...parent.children].indexOf(element);
	const match = counterpart(parent)?.children[at];
	return match?.localName === element.localName ? match : null;
}

export function reveal(old: Document, next: Document, mayScroll: boolean): void {
	const visible = changes(old.body, next.body)
		.map(counterpart)
		.filter((element) => element && element !== document.body && element.getClientRects().length > 0)
		.slice(0, MOST_GLOWING) as Element[];
	const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
	if (mayScroll && visible[0]) scrollToElement(visible[0], still ? "instant" : "smooth");
	const glow = { outline: "3px solid #1976d2", boxShadow: "0 0 24px 8px #1976d2", outlineOffset: "2px" };
	const faded = { ...glow, outline: "3px solid transparent", boxShadow: "0 0 24px 8px transparent" };
	for (const element of visible)
		element.animate([glow, still ? glow : faded], { duration: GLOWS, easing: "ease-in" });
}

/** Scrolls only this window: `scrollIntoView` would also scroll the notebook around it. */
function scrollToElement(element: Element, behavior: ScrollBehavior): void {
	const { top, bottom, height } = element.getBoundingClientRect();
	if (top >= 0 && bottom <= innerHeight) return;
	window.scrollTo({ top: scrollY + top - Math.max(0, (innerHeight - height) / 2), behavior });
}
