// Formulas are rendered by the front end's typesetter, MathJax in JupyterLab. Its styles do not apply inside a shadow
// root, so a formula is a child of the shadow root's host, displayed through a slot in the text.

import { h } from "../dom.ts";

export interface Typesetter {
	typeset(node: HTMLElement): unknown;
}

/** The class of formulas that are not typeset, which are shown as code. */
const FORMULA = "anb-math";
let typesetter: Typesetter | undefined;
let count = 0;

export function setTypesetter(available: Typesetter | undefined): void {
	typesetter ??= available;
}

/** A formula, to be typeset if its text is complete. */
export function createFormula(text: string, complete: boolean): Node {
	return complete ? h("span", { class: FORMULA }, text) : document.createTextNode(text);
}

/** Typesets the formulas of a complete text once it is on the page. */
export function typesetFormulas(text: HTMLElement): void {
	if (!typesetter || !text.querySelector(`.${FORMULA}`)) return;
	requestAnimationFrame(() => {
		const root = text.getRootNode();
		if (!(root instanceof ShadowRoot)) return;
		for (const formula of text.querySelectorAll<HTMLElement>(`.${FORMULA}`)) show(formula, root.host);
	});
}

function show(formula: HTMLElement, host: Element): void {
	const name = `${FORMULA}-${++count}`;
	const slot = h("slot", { name }, formula.textContent);
	const typeset = h("span", { slot: name }, formula.textContent);
	formula.replaceChildren(slot);
	formula.classList.replace(FORMULA, "anb-formula");
	host.append(typeset);
	// JupyterLab replaces the host's children when the result replaces the first frame.
	slot.addEventListener("slotchange", () => {
		if (slot.isConnected && !typeset.isConnected) host.append(typeset);
	});
	typesetter?.typeset(typeset);
}
