// The countdown while a run waits to send a failed request again.

import { h, icon, setText, type View, withCode } from "../../dom.ts";
import { retrySeconds } from "../../phase.ts";
import { type RetryRow, retryOf } from "../../state.ts";
import type { Snapshot, Ticking } from "../context.ts";

export function createRetry(ticking: Ticking): View<RetryRow> {
	const ring = createRing();
	const why = h("h4");
	const note = h("p", { class: "sub" });
	const header = h("header", null, ring.element, h("div", null, why, note));
	const card = h("div", { class: "anb-card ask", role: "alert" }, header);
	const node = h("span", { class: "anb-node" }, icon("retry"));
	const element = h("li", { class: "anb-item ask" }, node, card);
	let row: RetryRow | null = null;
	const tick = ({ now, state }: Snapshot): void => {
		if (row && retryOf(state)?.key === row.key)
			ring.update(Math.max(0, row.wait - (now - row.from)), row.wait);
		else ticking.delete(tick);
	};

	return {
		element,
		update(next) {
			row = next;
			why.replaceChildren(...withCode(next.why));
			setText(
				note,
				`Attempt ${next.attempt}. Your files are kept; this turn's unfinished output is discarded.`,
			);
			ticking.add(tick);
		},
	};
}

/** The seconds left, in a ring that empties. */
function createRing() {
	const element = h("div", { class: "anb-ring num", "aria-hidden": "true" });
	return {
		element,
		update(left: number, wait: number) {
			setText(element, String(retrySeconds(left)));
			element.style.setProperty("--left", `${wait > 0 ? (100 * left) / wait : 0}%`);
		},
	};
}
