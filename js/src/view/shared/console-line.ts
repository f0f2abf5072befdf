// A line of a page's console, and of the problems that a check has found.

import { type Child, h, icon } from "../../base/dom.ts";
import type { IconName } from "../../base/icons.ts";
import type { ConsoleLevel } from "../../page/messages.ts";

/** The class and icon of a level. */
const LOOK: Partial<Record<ConsoleLevel, [string, IconName]>> = {
	warn: ["w", "warn"],
	error: ["e", "error"],
};

/** A line; `more` are its links and buttons. */
export function createLine(level: ConsoleLevel, text: string, more: Child = null): HTMLElement {
	const [look = "", glyph] = LOOK[level] ?? [];
	return h("li", { class: look }, glyph ? icon(glyph) : h("i"), h("span", { class: "text" }, text), more);
}
