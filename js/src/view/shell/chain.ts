// Leads from a run to the one that it continues, and to the newest that continues it, so that they read as one
// conversation. Only runs whose output is on the page are named.

import { h, icon } from "../../dom.ts";
import type { IconName } from "../../icons.ts";
import type { RunEntry } from "../../runs.ts";
import type { Context } from "../context.ts";

export function createChain({ run }: Context) {
	const element = h("span", { class: "anb-chain" });
	let shown: readonly (RunEntry | undefined)[] = [];
	return {
		element,
		update() {
			const others = [...run.others()].filter((one) => one !== run && one.surface?.isConnected);
			const before = others.find((one) => one.state?.id === run.base);
			const after = others.findLast((one) => one.base !== null && one.base === run.state?.id);
			if (before === shown[0] && after === shown[1]) return;
			shown = [before, after];
			element.replaceChildren(
				...createLink(before, "up", "Continues"),
				...createLink(after, "out", "Continued in"),
			);
		},
	};
}

function createLink(to: RunEntry | undefined, glyph: IconName, words: string): HTMLElement[] {
	const name = to?.state?.meta.name;
	if (!to || !name) return [];
	const title = `${words} ${name}: go there`;
	const onclick = (): void => {
		to.surface?.scrollIntoView({ block: "start" });
		to.surface?.shadowRoot?.querySelector<HTMLElement>(".anb-chain > button")?.focus({ preventScroll: true });
	};
	return [
		h(
			"button",
			{ class: "anb-btn sm", type: "button", title, "aria-label": title, onclick },
			icon(glyph),
			name,
		),
	];
}
