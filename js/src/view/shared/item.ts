// The rows of the transcript.

import { type Child, h, icon } from "../../base/dom.ts";
import type { IconName } from "../../base/icons.ts";

/** A row with its icon on the transcript's rail, or with a dot. */
export function createItem(glyph: IconName | null, ...children: Child[]): HTMLElement {
	const node = h("span", { class: glyph ? "anb-node" : "anb-node pt" }, glyph && icon(glyph));
	return h("li", { class: "anb-item" }, node, ...children);
}
