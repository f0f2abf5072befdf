// Formulas are left to the front end's own typesetter, MathJax in JupyterLab. Its styles are the document's and do not
// reach into a shadow root: a formula is a child of the shadow root's host, shown through a slot in the text.

export interface Typesetter {
	typeset(node: HTMLElement): unknown;
}

/** The class of formulas that wait for it. */
const FORMULA = "anb-math";
let typesetter: Typesetter | undefined;
let count = 0;

/** Without one, formulas stay as they were written. */
export function setTypesetter(found: Typesetter | undefined): void {
	typesetter ??= found;
}

/** A formula, to be typeset if its text is complete. */
export function createFormula(text: string, complete: boolean): Node {
	if (!typesetter || !complete) return document.createTextNode(text);
	const formula = document.createElement("span");
	formula.className = FORMULA;
	formula.textContent = text;
	return formula;
}

/** Typesets the formulas in a text that is complete, once it is on the page. */
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
	// JupyterLab replaces the host's children when the result takes the place of the first frame.
	slot.addEventListener("slotchange", () => {
		if (slot.isConnected && !typeset.isConnected) host.append(typeset);
	});
	typesetter?.typeset(typeset);
}
