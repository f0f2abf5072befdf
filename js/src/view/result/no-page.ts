// What the preview shows until there is a page to see: at first a drawing, then the end of the source as it is written.
// And what it shows when a run has ended before its page had a body.

import { h, setText } from "../../dom.ts";
import { bytes } from "../../format.ts";
import { isPage, type ShownFile } from "../../shown.ts";
import type { VariantState } from "../../state.ts";

/** Characters: a longer page has a body. */
const MOST_HEAD = 100_000;
/** Characters of the source that are shown: more than fit. */
const MOST_SOURCE = 4000;

export function createEmpty() {
	const text = h("span");
	const wire = h("div", { class: "anb-wire", "aria-hidden": "true" }, h("i"), h("i"), h("i"), h("i"), h("i"));
	const source = h("pre", { "aria-hidden": "true" });
	const element = h("div", { class: "anb-empty", hidden: true }, wire, source, text);
	let seen = false;
	let early = "";

	function draw({ busy }: VariantState, tail: string): void {
		const coming = busy || tail !== "";
		setText(source, tail);
		element.classList.toggle("source", tail !== "");
		setText(text, coming ? "The page appears here as it is written." : early || "This run left no page.");
	}

	return {
		element,
		pageSeen() {
			seen = true;
			element.hidden = !early;
		},
		update(state: VariantState, shown: ShownFile | null) {
			early = state.busy ? "" : endedEarly(shown, state.reason === "stopped");
			seen &&= shown !== null && !early;
			// While a finished page loads, there is nothing to say.
			element.hidden = shown !== null && (seen || (!state.busy && element.hidden)) && !early;
			if (!element.hidden) draw(state, early ? "" : (shown?.text ?? "").slice(-MOST_SOURCE));
		},
	};
}

/** Says what there is of a page without a body; empty for any other page. */
function endedEarly(shown: ShownFile | null, stopped: boolean): string {
	if (!shown?.text || !isPage(shown.file.path) || hasBody(shown.text)) return "";
	const styles = (shown.text.match(STYLES) ?? []).join("").length;
	const what = styles ? `${bytes(styles)} of styles` : bytes(shown.text.length);
	return `${stopped ? "Stopped" : "Ended"} before the page had a body: ${what} in ${shown.file.path}`;
}

const STYLES = /<style\b[\s\S]*?(?:<\/style>|$)/gi;
const TITLES = /<title\b[\s\S]*?(?:<\/title>|$)/gi;
const COMMENTS = /<!--[\s\S]*?(?:-->|$)/g;
const SEEN = /<(?:script|img|svg|canvas|video|iframe|input|hr)\b/i;

/** Whether there is something to see, or a script that may draw it. */
export function hasBody(html: string): boolean {
	if (html.length > MOST_HEAD) return true;
	const rest = html.replace(COMMENTS, "").replace(STYLES, "").replace(TITLES, "");
	return SEEN.test(rest) || rest.replace(/<[^>]*>?/g, "").trim() !== "";
}
