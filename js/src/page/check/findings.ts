// Accessibility problems that axe-core rates serious or critical.

import axe from "axe-core";
import type { Report } from "./messages.ts";

const MOST = 20;
const MOST_TARGETS = 3;
const LONGEST = 300;
/** Maximum elements that axe-core can check in time. */
const MOST_ELEMENTS = 4000;

// Not needed in the page.
Reflect.deleteProperty(window, "axe");

export async function findProblems(): Promise<Report["findings"]> {
	const count = document.querySelectorAll("*").length;
	if (count > MOST_ELEMENTS) throw new Error(`the page has ${count} elements`);
	const { violations } = await axe.run(document, { iframes: false, resultTypes: ["violations"] });
	return violations
		.filter(({ impact }) => impact === "serious" || impact === "critical")
		.slice(0, MOST)
		.map(({ id, impact, help, nodes }) => ({
			rule: id,
			impact: String(impact),
			summary: nodes.length > 1 ? `${help} (${nodes.length} elements)` : help,
			targets: nodes.slice(0, MOST_TARGETS).map(({ target }) => target.join(" ").slice(0, LONGEST)),
		}));
}
