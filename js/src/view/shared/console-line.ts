// A line that a page has logged.

import { type Child, h, icon } from "../../dom.ts";
import type { IconName } from "../../icons.ts";
import type { ConsoleLevel } from "../../preview/messages.ts";

/** What makes a level stand out: its class and its icon. */
const LOOK: Partial<Record<ConsoleLevel, [string, IconName]>> = {
	warn: ["w", "warn"],
	error: ["e", "error"],
};

/** A line; `more` is what it leads to. */
export function createLine(level: ConsoleLevel, text: string, more: Child = null): HTMLElement {
	const [look = "", glyph] = LOOK[level] ?? [];
	return h("li", { class: look }, glyph ? icon(glyph) : h("i"), h("span", { class: "text" }, text), more);
}
