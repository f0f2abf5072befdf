// HTML that is no more than tables and text is drawn with elements of our own: in the colours of the notebook, as large
// as it is, and with nothing in it that could run. `agent_nb/render/rows_html.py` does the same for saved outputs.

import { plain_tags } from "../../../../agent_nb/render/policy.json";
import { h } from "../../dom.ts";

const TAGS = new Set(plain_tags.toUpperCase().split(" "));
/** What the tables of pandas and polars bring along. */
const KNOWN_SHEET = /^(?:[^{}]*\.dataframe[^{}]*\{[^{}]*\})*\s*$/;
/** Characters; in a longer one the pattern would look for too long. */
const MOST_SHEET = 2_000;
const KNOWN_STYLE = /^\s*(?:text-align:\s*\w+;?)?\s*$/;
/** Elements that are drawn; a larger document goes into a frame, where the page does not wait for it. */
const MOST = 20_000;

/** Null if the HTML is more than that. */
export function createPlainHtml(html: string): HTMLElement | null {
	const { body, head } = new DOMParser().parseFromString(html, "text/html");
	if (body.querySelectorAll("*").length > MOST) return null;
	const copies = copiesOf([...head.childNodes, ...body.childNodes]);
	return copies && h("div", { class: "anb-plain", tabindex: 0 }, ...copies);
}

function copiesOf(nodes: Iterable<Node>): (Node | string)[] | null {
	const copies = [...nodes].map(copyOf);
	return copies.includes(null) ? null : (copies as (Node | string)[]);
}

function isKnownSheet(css: string): boolean {
	return css.length <= MOST_SHEET && KNOWN_SHEET.test(css);
}

/** An element with the text of another, and with what the cell of a table spans; null if it may not be copied. */
function copyOf(node: Node): Node | string | null {
	if (!(node instanceof HTMLElement))
		return node instanceof Text ? node.data : node instanceof Comment ? "" : null;
	if (node.tagName === "STYLE") return isKnownSheet(node.textContent ?? "") ? "" : null;
	if (!TAGS.has(node.tagName) || !KNOWN_STYLE.test(node.getAttribute("style") ?? "")) return null;
	const copies = copiesOf(node.childNodes);
	if (!copies) return null;
	const spans = { colspan: node.getAttribute("colspan"), rowspan: node.getAttribute("rowspan") };
	return h(node.tagName.toLowerCase() as "td", spans, ...copies);
}
