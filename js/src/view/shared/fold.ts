// A row that opens and closes by itself, until the user opens or closes it.

import { h, listen } from "../../dom.ts";
import type { Context } from "../context.ts";

export function createFold(context: Context, summary: HTMLElement, detail: HTMLElement) {
	const element = h("details", null, summary, detail);
	let key = "";
	listen(summary, "click", context.signal, () => context.choices.rows.set(key, !element.open));
	return {
		element,
		set(rowKey: string, open: boolean) {
			key = rowKey;
			const wanted = context.choices.rows.get(key) ?? open;
			if (element.open !== wanted) element.open = wanted;
		},
	};
}
