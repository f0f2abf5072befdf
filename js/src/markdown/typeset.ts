// Formulas are rendered by the front end's typesetter, MathJax in JupyterLab. Its styles do not apply inside a shadow
// root, so a formula is a child of the shadow root's host, displayed through a slot in the text.

export interface Typesetter {
	typeset(node: HTMLElement): unknown;
}

/** The class of formulas that are not typeset yet. */
const FORMULA = "anb-math";
let typesetter: Typesetter | undefined;
let count = 0;

/** Without a typesetter, formulas stay plain text. */
export function setTypesetter(available: Typesetter | undefined): void {
	typesetter ??= available;
}

/** A formula, to be typeset if its text is complete. */
export function createFormula(text: string, complete: boolean): Node {
	if (!typesetter || !complete) return document.createTextNode(text);
	const formula = document.createElement("span");
	formula.className = FORMULA;
	formula.textContent = text;
	return formula;
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
	const slot = document.createElement("slot");
	const typeset = document.createElement("span");
	slot.name = typeset.slot = `${FORMULA}-${++count}`;
	slot.textContent = typeset.textContent = formula.textContent;
	formula.replaceChildren(slot);
	formula.classList.remove(FORMULA);
	host.append(typeset);
	// JupyterLab replaces the host's children when the result replaces the first frame.
	slot.addEventListener("slotchange", () => {
		if (slot.isConnected && !typeset.isConnected) host.append(typeset);
	});
	typesetter?.typeset(typeset);
}
