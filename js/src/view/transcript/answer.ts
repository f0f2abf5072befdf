// What the model writes, and the answer of a run: its last text, with the last figure and table of its code.

import { copyText } from "../../base/clipboard.ts";
import { h, setChildren, type View } from "../../base/dom.ts";
import { Markdown } from "../../base/markdown.ts";
import { canInsert } from "../../run/cells.ts";
import type { MimeBundle } from "../../run/events.ts";
import type { StreamRow, VariantState } from "../../run/state.ts";
import type { Context } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";
import { createInsertButton } from "../shared/cell-button.ts";
import { createItem } from "../shared/item.ts";
import { createOutputs } from "./outputs.ts";
import { codeOf } from "./tool-row.ts";

/** The text after the last call; null if there is none. */
export function answerOf({ rows }: VariantState): StreamRow | null {
	const last = rows.findLast(({ kind }) => kind === "text" || kind === "tool");
	return last?.kind === "text" && last.text.trim() ? last : null;
}

/** The answer, as the first items of `list`. */
export function createAnswer(context: Context, list: HTMLElement) {
	const text = createText(context);
	const outputs = createItem(null);
	return (state: VariantState, answer: StreamRow | null): void => {
		const items = [text.element, outputs];
		if (!answer) {
			for (const item of items) item.remove();
			return;
		}
		text.update(answer);
		setChildren(outputs, state.rows, () => createOutputs(context, lastOutputs(state)));
		outputs.hidden = !outputs.hasChildNodes();
		if (list.firstChild !== text.element) list.prepend(...items);
	};
}

/** The last figure and the last table that code has displayed. */
function lastOutputs({ rows }: VariantState): MimeBundle[] {
	const shown = rows.flatMap((row) => (row.kind === "tool" && codeOf(row) !== null ? row.outputs : []));
	const lastWith = (type: string): MimeBundle | undefined =>
		shown.findLast((bundle) => Object.keys(bundle).some((key) => key.startsWith(type)));
	const [figure, table] = [lastWith("image/"), lastWith("text/html")];
	return shown.filter((bundle) => bundle === figure || bundle === table);
}

export function createText(context: Context): View<StreamRow> {
	const say = h("div", { class: "anb-say anb-md" });
	const markdown = new Markdown(say);
	const element = createItem(null, say, markdown.rest.element);
	return {
		element,
		update(row) {
			const ended = row.to !== null;
			markdown.set(row.text, ended);
			say.classList.toggle("writing", !ended);
			if (ended) addCodeButtons(context, say);
		},
	};
}

/** Buttons on a code block of an answer: copy, and insert as a cell if it is Python and cells can be inserted. */
function addCodeButtons(context: Context, answer: HTMLElement): void {
	for (const pre of answer.querySelectorAll<HTMLElement>(":not(.anb-snippet) > pre")) {
		const code = pre.textContent?.trimEnd() ?? "";
		const copy = iconButton("copy", "Copy code", () => void copyText(context, code));
		const block = h("div", { class: "anb-snippet" });
		pre.replaceWith(block);
		const insert =
			pre.matches(".py") &&
			canInsert(context.run) &&
			createInsertButton(context, "Insert as a cell", code, "Insert this code below");
		block.append(pre, h("span", null, insert, copy));
	}
}
