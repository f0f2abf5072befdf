// A call that runs code looks like a cell of a notebook: the code, which folds, above what it printed and displayed.

import { h, icon, setText } from "../../dom.ts";
import { plural } from "../../format.ts";
import { printable } from "../../printable.ts";
import type { ToolRow } from "../../state.ts";
import { coloured } from "./arguments.ts";

/** The argument `code` in the JSON of arguments that are still being written. */
const WRITTEN = /^\s*\{\s*"code"\s*:\s*"((?:[^"\\]|\\u[0-9a-f]{4}|\\[^u])*)/i;

/** The code that a call runs, or has written so far; null for a call without code. */
export function codeOf({ args, args_text }: ToolRow): string | null {
	const code = args ? args.code : writtenCode(args_text);
	return typeof code === "string" ? code : null;
}

function writtenCode(json: string): string | undefined {
	const code = WRITTEN.exec(json)?.[1];
	try {
		return code && JSON.parse(`"${code}"`);
	} catch {
		return undefined;
	}
}

export function createCodeCell() {
	const label = h("span");
	const text = h("pre");
	const summary = h("summary", null, icon("right", "chev"), label);
	let drawn = "";
	return {
		element: h("details", { class: "anb-source", open: true }, summary, text),
		update(code: string) {
			if (drawn === code) return;
			drawn = code;
			setText(label, `${plural(code.trimEnd().split("\n").length, "line")} of code`);
			text.replaceChildren(...coloured("py", printable(code.trimEnd())));
		},
	};
}
