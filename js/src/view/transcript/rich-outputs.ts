// Outputs that the page draws with a module of its own, which comes with the first of them: HTML, what code did to
// names, and what was found on a page.

import { h } from "../../dom.ts";
import type { MimeBundle } from "../../events.ts";
import { gated } from "../../preview/gate.ts";
import { OUTPUT_POLICY } from "../../preview/policy.ts";
import type { Context } from "../context.ts";
import { createNames, NAMES_TYPE, type Names } from "./notebook-names.ts";
import { CHECK_TYPE, type Check, createCheck } from "./page-check.ts";
import { createPlainHtml } from "./plain-html.ts";

export { createLeft } from "./notebook-names.ts";

/** As `_FRAME_STYLE` of the saved form. */
const FRAME_STYLE = `<style>body{margin:8px;font:13px/1.5 system-ui,sans-serif}table{border-collapse:collapse}
td,th{padding:2px 10px;border:solid #e0e0e0;border-width:0 0 1px;text-align:right}</style>`;

export function createRich(context: Context, bundle: MimeBundle): HTMLElement[] {
	const { [CHECK_TYPE]: check, [NAMES_TYPE]: names, "text/html": html } = bundle;
	if (check) return createCheck(check as unknown as Check);
	if (names) return [createNames(context, names as unknown as Names)];
	return [createHtml(String(html))];
}

/** HTML from a tool: no scripts, no origin, no network. */
function createHtml(html: string): HTMLElement {
	const plain = createPlainHtml(html);
	if (plain) return plain;
	const frame = h("iframe", { class: "anb-html", sandbox: "", title: "Tool output", loading: "lazy" });
	frame.srcdoc = OUTPUT_POLICY + FRAME_STYLE + gated(html);
	// A frame without scripts cannot size itself: a table is about as high as its rows.
	const rows = html.match(/<tr/gi)?.length ?? 0;
	if (rows) frame.style.height = `${Math.min(40 + 25 * rows, 320)}px`;
	return frame;
}
