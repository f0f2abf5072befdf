// The last line while the model has said nothing in its turn: for how long, and what may be wrong.

import { h, icon, withCode } from "../../dom.ts";
import { isWaiting, WAITS_LONG, waitingPhase } from "../../phase.ts";
import type { Snapshot } from "../context.ts";

/** Seconds after which the line shows: most answers begin sooner. */
const SHOWN_AFTER = 3;
const REMOTE =
	"Nothing has come yet. The server may be busy, the network slow, or a proxy may hold the answer back. You can go on waiting, or stop and try again, perhaps with another model (`-m`). `%config AgentMagics.silence` sets the seconds after which a request counts as failed.";
const OWN =
	"Nothing has come yet. Your server may still be loading the model, or reading the prompt: `--lean` sends it less. Its own log says more. `%config AgentMagics.silence` sets the seconds after which a request counts as failed.";

export function createWaiting() {
	const label = h("span", { class: "lab" });
	const advice = h("div", { class: "anb-detail anb-think", role: "status" });
	const node = h("span", { class: "anb-node" }, icon("think"));
	const element = h("li", { class: "anb-item" }, node, h("div", { class: "anb-row still" }, label), advice);
	let shown = "";

	return {
		element,
		/** Returns whether there is something to show. */
		update({ state, now }: Snapshot): boolean {
			const silent = now - state.at;
			if (!isWaiting(state) || silent < SHOWN_AFTER) return false;
			const text = waitingPhase(silent);
			label.textContent = text[0]?.toUpperCase() + text.slice(1);
			const says = silent < WAITS_LONG ? "" : state.settings.server ? OWN : REMOTE;
			if (shown !== says) advice.replaceChildren(...withCode(says));
			shown = says;
			return true;
		},
	};
}
