// Marks the Python blocks of an answer that did not run, each with a button that runs it as a cell.

import { h } from "../base/dom.ts";
import { cellSource } from "../run/cell-source.ts";
import { canInsert } from "../run/cells.ts";
import { type Context, type FeatureView, type Snapshot, shownOf } from "../view/context.ts";
import { insert } from "../view/shared/cell-button.ts";

const NEW_BLOCKS = ":scope > li > .anb-say .anb-snippet:not(.unrun)";

function createMarks(context: Context, lists: readonly HTMLElement[]): (snapshot: Snapshot) => void {
	return ({ run, state }) => {
		const shown = state.busy ? null : shownOf(run, "code_first", context.choices.variant);
		if (!shown) return;
		for (const block of lists.flatMap((list) => [...list.querySelectorAll<HTMLElement>(NEW_BLOCKS)])) {
			const code = block.querySelector("pre.py")?.textContent?.trimEnd() ?? "";
			if (!shown.blocks.includes(code)) continue;
			block.classList.add("unrun");
			block.lastElementChild?.prepend(h("span", { class: "anb-unrun" }, "not run"), createRun(context, code));
		}
	};
}

function createRun(context: Context, code: string): HTMLElement {
	const source = cellSource("shown", { shown: code });
	const hidden = source === null || !canInsert(context.run);
	const onclick = (press: MouseEvent): void =>
		void (source && insert(context, press, source, { runs: true }));
	const title = "Insert this code below and run it";
	return h("button", { class: "anb-btn sm", title, onclick, hidden }, "Run as a cell");
}

export const codeFirst: FeatureView = { answer: createMarks };
