// Formulas between dollars, whose text Markdown leaves alone. The same rules as in agent_nb/render/safe_markdown.py.

import type StateBlock from "markdown-it/lib/rules_block/state_block.mjs";
import type StateInline from "markdown-it/lib/rules_inline/state_inline.mjs";

/** `$$x$$`, or `$x$` with no space inside of the dollars and no digit after them, so that prices stay text. */
const FORMULA = /\$\$(?:[^$\\]|\\[\s\S])+\$\$|\$(?![\s$])(?:[^$\\]|\\[\s\S])*?(?<!\s)\$(?![\d$])/y;

export function inlineFormula(state: StateInline, silent: boolean): boolean {
	if (state.src[state.pos] !== "$") return false;
	FORMULA.lastIndex = state.pos;
	const formula = FORMULA.exec(state.src.slice(0, state.posMax))?.[0];
	if (!formula) return false;
	if (!silent) state.push("math", "", 0).content = formula;
	state.pos += formula.length;
	return true;
}

/** A paragraph from a line `$$` to a line that ends with `$$`, whatever the lines between look like. */
export function formulaBlock(state: StateBlock, start: number, end: number, silent: boolean): boolean {
	const line = (at: number): string =>
		state.src.slice(state.bMarks[at]! + state.tShift[at]!, state.eMarks[at]).trim();
	if (state.sCount[start]! - state.blkIndent >= 4 || line(start) !== "$$") return false;
	if (silent) return true;
	let next = start + 1;
	while (next < end && !state.isEmpty(next) && state.sCount[next]! >= state.blkIndent) {
		next++;
		if (line(next - 1).endsWith("$$")) break;
	}
	state.line = next;
	state.push("paragraph_open", "p", 1).map = [start, next];
	const inline = state.push("inline", "", 0);
	inline.content = state.getLines(start, next, state.blkIndent, false).trim();
	inline.map = [start, next];
	inline.children = [];
	state.push("paragraph_close", "p", -1);
	return true;
}
