// The countdown while a run waits to send a failed request again.

import { h, icon, setText, type View, withCode } from "../../dom.ts";
import { retrySeconds } from "../../phase.ts";
import { type RetryRow, retryOf } from "../../state.ts";
import type { Snapshot, Ticking } from "../context.ts";

const SVG = "http://www.w3.org/2000/svg";
const RING = 2 * Math.PI * 13;

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
	const number = h("span", { class: "num" });
	const [track, arc] = [createCircle("bg"), createCircle("fgc")];
	const svg = document.createElementNS(SVG, "svg");
	svg.setAttribute("viewBox", "0 0 32 32");
	svg.append(track, arc);
	return {
		element: h("div", { class: "anb-ring", "aria-hidden": "true" }, svg, number),
		update(left: number, wait: number) {
			setText(number, String(retrySeconds(left)));
			const share = wait > 0 ? left / wait : 0;
			arc.setAttribute("stroke-dasharray", `${RING * share} ${RING}`);
		},
	};
}

function createCircle(name: string): SVGCircleElement {
	const circle = document.createElementNS(SVG, "circle");
	for (const [key, value] of Object.entries({ class: name, cx: 16, cy: 16, r: 13 }))
		circle.setAttribute(key, String(value));
	return circle;
}
