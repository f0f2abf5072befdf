// Describes elements of the page: their boxes, and the computed styles that have an effect.

import type { Look } from "./messages.ts";

/** The kernel accepts at most 20. */
const PROPERTIES = `display position color background-color background-image font-family font-size font-weight
	line-height letter-spacing text-align padding margin border border-radius box-shadow opacity gap`.split(
	/\s+/,
);
/** Values without effect. */
const WITHOUT_EFFECT = /^(|none|normal|static|start|1|0px|0px none .*|rgba\(0, 0, 0, 0\))$/;
const LONGEST = 200;

/** One entry per selector, null if nothing matches. */
export function elementStyles(selectors: readonly string[]): (Omit<Look, "png"> | null)[] {
	return selectors.map((selector) => {
		const element = document.querySelector(selector);
		if (!element) return null;
		const { left, top, width, height } = element.getBoundingClientRect();
		return { box: [left + window.scrollX, top + window.scrollY, width, height], style: styleOf(element) };
	});
}

function styleOf(element: Element): Record<string, string> {
	const computed = getComputedStyle(element);
	const values = PROPERTIES.map((name) => [name, computed.getPropertyValue(name).slice(0, LONGEST)] as const);
	return Object.fromEntries(
		values.filter(([name, value]) => name === "display" || !WITHOUT_EFFECT.test(value)),
	);
}
