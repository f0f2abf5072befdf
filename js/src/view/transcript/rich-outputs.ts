// Outputs that are more than text: HTML, what code did to names, and what was found on a page.

import { h, listen } from "../../dom.ts";
import type { MimeBundle } from "../../events.ts";
import { gated } from "../../preview/gate.ts";
import { outputPolicy } from "../../preview/policy.ts";
import { around } from "../../preview/shell.ts";
import type { Context } from "../context.ts";
import { createLongText } from "./long-text.ts";
import { createNames, NAMES_TYPE, type Names } from "./notebook-names.ts";
import { CHECK_TYPE, type Check, createCheck } from "./page-check.ts";
import { createPlainHtml } from "./plain-html.ts";

/** As `_FRAME_STYLE` of the saved form. */
const FRAME_STYLE = `<style>body{margin:8px;font:13px/1.5 system-ui,sans-serif}table{border-collapse:collapse}
td,th{padding:2px 10px;border:solid #e0e0e0;border-width:0 0 1px;text-align:right}</style>`;

/** As in `agent_nb/_base/constants.py`. */
const INTERACTIVE_NOTE = "Interactive output: run the code in a cell of its own to see it.";
/** Scripts that the policy of a page would not load. */
const LOADS = /<script\b[^>]*\ssrc\b|\brequire(?:js|\.config|\()|\bimport\s*\(/i;
/** Pixels. */
const MOST_HEIGHT = 1200;

export function createRich(context: Context, bundle: MimeBundle): HTMLElement[] {
	const { [CHECK_TYPE]: check, [NAMES_TYPE]: names, "text/html": html } = bundle;
	if (check) return createCheck(check as unknown as Check);
	if (names) return [createNames(context, names as unknown as Names)];
	if (typeof html !== "string") return [createNote(), ...createLongText(String(bundle["text/plain"] ?? ""))];
	if (/<script\b/i.test(html)) return [createInteractive(context, html)];
	return [createPlainHtml(html) ?? createFrame(context, html)];
}

function createNote(): HTMLElement {
	return h("p", { class: "anb-cap" }, INTERACTIVE_NOTE);
}

/** HTML with scripts, which run when the user asks for it: in a frame with no origin, under the policy of a page. */
function createInteractive(context: Context, html: string): HTMLElement {
	if (LOADS.test(html)) return createNote();
	const button = h("button", { class: "anb-btn sm", type: "button" }, "Show it");
	const element = h("div", { class: "anb-names" }, "Interactive output, shown without network:", button);
	listen(button, "click", context.signal, () => element.replaceWith(createFrame(context, html, true)));
	return element;
}

/** HTML from a tool: no origin and no network. Scripts could navigate their frame, so a document around it forbids that. */
function createFrame(context: Context, html: string, scripts = false): HTMLElement {
	const nonce = crypto.getRandomValues(new Uint32Array(4)).join("");
	const frame = h("iframe", {
		class: "anb-html",
		sandbox: "allow-scripts",
		title: "Tool output",
		loading: "lazy",
	});
	const script = `<script nonce="${nonce}">${measure(scripts ? "parent.parent" : "parent")}</script>`;
	const page = FRAME_STYLE + script + gated(html);
	frame.srcdoc = scripts ? around("Tool output", page, false) : outputPolicy(nonce) + page;
	window.addEventListener(
		"message",
		({ source, data }) => {
			const height = Number(data?.anbHeight);
			const own = scripts ? frame.contentWindow?.[0] : frame.contentWindow;
			if (source && source === own && height > 0) frame.style.height = `${Math.min(height, MOST_HEIGHT)}px`;
		},
		{ signal: context.signal },
	);
	return frame;
}

/** The body has a margin of 8 pixels, and the frame a border of one. */
function measure(widget: string): string {
	return `addEventListener("DOMContentLoaded", () => new ResizeObserver(() =>
${widget}.postMessage({ anbHeight: document.body.scrollHeight + 18 }, "*")).observe(document.body))`;
}
