// What the demo model offers to do next, as buttons that fill the field below the run. It is known to quote these; other
// models quote anything.

import { addToAsk } from "../../ask.ts";
import { h, listen } from "../../dom.ts";
import type { VariantState } from "../../state.ts";
import { type Context, canRefer, type Snapshot } from "../context.ts";

export function createSuggestions(context: Context) {
	const row = h("div", { class: "anb-offers" });
	const element = h("li", { class: "anb-item" }, h("span", { class: "anb-node pt" }), row);
	let shown = "";
	return {
		element,
		/** Whether there are any. */
		update({ run, state }: Snapshot): boolean {
			const offers = run.meta.demo && canRefer(context) ? offersIn(state) : [];
			if (shown !== String(offers)) row.replaceChildren(...offers.map((text) => createOffer(context, text)));
			shown = String(offers);
			return offers.length > 0;
		},
	};
}

function createOffer(context: Context, text: string): HTMLElement {
	const button = h("button", { class: "anb-btn sm", type: "button" }, text);
	listen(button, "click", context.signal, () => {
		addToAsk(context.choices.ask, text);
		context.redraw();
	});
	return button;
}

function offersIn({ rows }: VariantState): string[] {
	const last = rows.findLast((row) => row.kind === "text");
	const sentence = /Continue with (.*)/.exec(last?.kind === "text" ? last.text : "")?.[1] ?? "";
	return [...sentence.matchAll(/“([^“”]{1,60})”/g)].map(([, text = ""]) => text);
}
