// The outputs of a tool: MIME bundles, each in its richest form.

import { plain_tags } from "../../../../agent_nb/pages/policy.json";
import { h, icon } from "../../base/dom.ts";
import { joined } from "../../base/json.ts";
import { createLongText } from "../../base/long-text.ts";
import { Markdown } from "../../base/markdown.ts";
import type { Report } from "../../page/check/messages.ts";
import { guardFocus, hovers } from "../../page/focus.ts";
import { gated } from "../../page/gate.ts";
import { LOSSES } from "../../page/messages.ts";
import { around, outputPolicy } from "../../page/shell.ts";
import type { MimeBundle } from "../../run/events.ts";
import { isPlain } from "../../run/tool-call.ts";
import type { Context } from "../context.ts";
import { textButton } from "../shared/buttons.ts";
import { createLine } from "../shared/console-line.ts";
import { createDiffTable, parseUnifiedDiff } from "../shared/diff-table.ts";
import { createNames, NAMES_TYPE, type Names } from "./notebook-names.ts";

/** Maximum characters and lines of a growing text; the newest are shown. */
const TAIL = 2_000;
const TAIL_LINES = 15;
/** The class of an image that is shown inline at full size, as under a cell. */
const FIGURE = "anb-figure";
/** `code` is what is shown above the outputs. */
export function createOutputs(
	context: Context,
	outputs: readonly MimeBundle[],
	code: string | null = null,
): Node[] {
	const images: Node[] = [];
	const nodes: Node[] = [];
	for (const bundle of outputs) {
		const image = createImage(bundle);
		if (image) (image.className === FIGURE ? nodes : images).push(image);
		else nodes.push(...createOutput(context, bundle, code));
	}
	return images.length ? [h("div", { class: "anb-thumbs" }, ...(images as HTMLElement[])), ...nodes] : nodes;
}

/** The outputs of a tool that is still running. Only the last one can grow. */
export function createLiveOutputs(context: Context) {
	const element = h("div");
	let drawn: readonly MimeBundle[] = [];
	return {
		element,
		update(outputs: readonly MimeBundle[]) {
			let same = 0;
			while (same < drawn.length && drawn[same] === outputs[same]) same++;
			while (element.childElementCount > same) element.lastElementChild?.remove();
			for (const bundle of outputs.slice(same)) {
				const nodes = isPlain(bundle)
					? [createTail(joined(bundle["text/plain"]))]
					: createOutputs(context, [bundle]);
				element.append(h("div", null, ...(nodes as HTMLElement[])));
			}
			drawn = outputs;
		},
	};
}

/** The end of a text, rendered as in a terminal: a carriage return overwrites the line. */
function createTail(text: string): HTMLElement {
	const visible = text
		.slice(-TAIL)
		.replace(/\r\n/g, "\n")
		.replace(/[^\n\r]*\r/g, "");
	const lines = visible.trimEnd().split("\n").slice(-TAIL_LINES);
	return h("div", { class: "anb-code" }, h("pre", null, lines.join("\n")));
}

function createImage(bundle: MimeBundle): HTMLElement | null {
	for (const type of ["image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml"]) {
		const data = bundle[type];
		if (typeof data !== "string") continue;
		const address =
			type === "image/svg+xml" && data.trimStart().startsWith("<")
				? `data:${type};charset=utf-8,${encodeURIComponent(data)}`
				: `data:${type};base64,${data.replace(/\s/g, "")}`;
		const caption = joined(bundle["text/plain"]);
		const image = h("img", { src: address, alt: caption || "image", loading: "lazy" });
		// `<Figure size 640x480>` is the repr of a displayed object, not a caption.
		if (caption.startsWith("<")) return h("figure", { class: FIGURE }, image);
		return h(
			"figure",
			{ class: "anb-thumb", title: caption },
			h("button", { onclick: () => showLarge(image) }, image),
			caption ? h("figcaption", { class: "anb-cap" }, caption) : null,
		);
	}
	return null;
}

/** The image at its original size, as an overlay. A click or Escape closes it. */
function showLarge(image: HTMLImageElement): void {
	const dialog = h("dialog", { class: "anb-large", onclick: () => dialog.close() }, image.cloneNode());
	dialog.onclose = () => dialog.remove();
	image.closest("figure")?.append(dialog);
	dialog.showModal();
}

function createOutput(context: Context, bundle: MimeBundle, code: string | null): Node[] {
	const rich = createRich(context, bundle, code);
	if (rich) return [h("div", null, ...rich)];
	if (typeof bundle["text/x-diff"] === "string")
		return [createDiffTable(parseUnifiedDiff(bundle["text/x-diff"]))];
	if (typeof bundle["text/markdown"] === "string") {
		const element = h("div", { class: "anb-md anb-out" });
		const markdown = new Markdown(element);
		markdown.set(bundle["text/markdown"], true);
		return [element, markdown.rest.element];
	}
	const text = joined(bundle["text/plain"]);
	return text ? createLongText(text) : [];
}

/** As `_FRAME_STYLE` of the saved form. */
const FRAME_STYLE = `<style>body{margin:8px;font:13px/1.5 system-ui,sans-serif}table{border-collapse:collapse}
td,th{padding:2px 10px;border:solid #e0e0e0;border-width:0 0 1px;text-align:right}</style>`;

const INTERACTIVE_TYPE = "application/vnd.agent-nb.interactive+json";
/** As in `agent_nb/_base/constants.py`. */
const INTERACTIVE_NOTE = "Interactive output: run the code in a cell of its own to see it.";
/** Scripts that the policy of a page would not load. */
const LOADS = /<script\b[^>]*\ssrc\b|\brequire(?:js|\.config|\()|\bimport\s*\(/i;
/** Pixels. */
const MOST_HEIGHT = 1200;

/** Renders HTML, bound names and page checks; null for other outputs. */
function createRich(context: Context, bundle: MimeBundle, code: string | null): HTMLElement[] | null {
	const { [CHECK_TYPE]: check, [NAMES_TYPE]: names, "text/html": html } = bundle;
	if (check) return createCheck(check as unknown as Check);
	if (names) return [createNames(context, names as unknown as Names, code)];
	if (typeof html !== "string" || !html)
		return bundle[INTERACTIVE_TYPE] ? [createNote(), ...createLongText(joined(bundle["text/plain"]))] : null;
	if (/<script\b/i.test(html)) return [createInteractive(context, html)];
	return [createPlainHtml(html) ?? createFrame(context, html)];
}

function createNote(text = INTERACTIVE_NOTE): HTMLElement {
	return h("p", { class: "anb-cap" }, text);
}

/** HTML with scripts, which run at the user's request: in a frame with an opaque origin, under a page's policy. */
function createInteractive(context: Context, html: string): HTMLElement {
	if (LOADS.test(html)) return createNote();
	const show = textButton("Show it", () => element.replaceWith(createFrame(context, html, true)));
	const element = h("div", { class: "anb-names" }, "Interactive output, shown without network:", show);
	return element;
}

/** HTML from a tool: opaque origin, no network. An outer document forbids scripts to navigate the frame. */
function createFrame(context: Context, html: string, scripts = false): HTMLElement {
	const nonce = crypto.getRandomValues(new Uint32Array(4)).join("");
	const props = { class: "anb-html", sandbox: "allow-scripts", title: "Tool output", loading: "lazy" };
	const frame = h("iframe", props);
	const script = `<script nonce="${nonce}">${measure(scripts ? "parent.parent" : "parent")}</script>`;
	const page = FRAME_STYLE + script + gated(html);
	frame.srcdoc = scripts ? around("Tool output", page, "closed") : outputPolicy(nonce) + page;
	const isOwn = (element: Element): boolean => element === frame && hovers();
	if (scripts) guardFocus(isOwn, context.signal, () => frame.replaceWith(createNote(LOSSES.grabbed)));
	window.addEventListener(
		"message",
		({ source, data }) => {
			const height = Number(data?.anbHeight);
			const inner = scripts ? frame.contentWindow?.[0] : frame.contentWindow;
			if (source && source === inner && height > 0) frame.style.height = `${Math.min(height, MOST_HEIGHT)}px`;
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

const CHECK_TYPE = "application/vnd.agent-nb.check+json";

/** A `PageCheck` of `agent_nb/pages/page_check.py`, without its images. */
interface Check extends Pick<Report, "blocked" | "overflow" | "notes"> {
	console: { level: "error" | "warning" | "info"; text: string; line: number | null; file: string }[];
	findings: Pick<Report["findings"][number], "summary" | "targets">[];
}

/** The fold, or nothing if there is nothing to report. */
function createCheck({ console, blocked, overflow, findings, notes }: Check): HTMLElement[] {
	const warn = (text: string): HTMLElement => createLine("warn", text);
	const lines = [
		...console.map(({ level, text, file, line }) =>
			createLine(level === "warning" ? "warn" : level, text, line && h("span", null, `${file} line ${line}`)),
		),
		...blocked.map(({ address, reason }) => warn(`Not loaded: ${address} (${reason})`)),
		...(overflow ? [warn(`${overflow.pixels} px too wide for a phone: ${overflow.selector}`)] : []),
		...findings.map(({ summary, targets }) => warn(`${summary}: ${targets.join(", ")}`)),
		...notes.map((note) => createLine("info", note)),
	];
	if (lines.length === 0) return [];
	const summary = h("summary", null, icon("right", "chev"), `console and problems (${lines.length})`);
	return [h("details", { class: "anb-args" }, summary, h("ul", { class: "anb-con" }, ...lines))];
}

const TAGS = new Set(plain_tags.toUpperCase().split(" "));
/** The style sheets in tables of pandas and polars. */
const KNOWN_SHEET = /^(?:[^{}]*\.dataframe[^{}]*\{[^{}]*\})*\s*$/;
/** Maximum characters: the pattern would be too slow on longer ones. */
const MOST_SHEET = 2_000;
const KNOWN_STYLE = /^\s*(?:text-align:\s*\w+;?)?\s*$/;
/** Maximum elements; a larger document is drawn in a frame, where it does not block the page. */
const MOST = 20_000;

/**
 * Rebuilds HTML that consists only of tables and text: in the notebook's colours, at full size, and without active
 * content. Null for other HTML. `agent_nb/render/frozen.py` does the same when saving.
 */
export function createPlainHtml(html: string): HTMLElement | null {
	const { body, head } = new DOMParser().parseFromString(html, "text/html");
	if (body.querySelectorAll("*").length > MOST) return null;
	const copies = copiesOf([...head.childNodes, ...body.childNodes]);
	return copies && h("div", { class: "anb-plain", tabindex: 0 }, ...copies);
}

function copiesOf(nodes: Iterable<Node>): (Node | string)[] | null {
	const copies = [...nodes].map(copyOf);
	return copies.includes(null) ? null : (copies as (Node | string)[]);
}

/** Copies an element's text and its table cell spans; null if the element is not allowed. */
function copyOf(node: Node): Node | string | null {
	if (!(node instanceof HTMLElement))
		return node instanceof Text ? node.data : node instanceof Comment ? "" : null;
	const css = node.textContent ?? "";
	if (node.tagName === "STYLE") return css.length <= MOST_SHEET && KNOWN_SHEET.test(css) ? "" : null;
	if (!TAGS.has(node.tagName) || !KNOWN_STYLE.test(node.getAttribute("style") ?? "")) return null;
	const copies = copiesOf(node.childNodes);
	if (!copies) return null;
	const spans = { colspan: node.getAttribute("colspan"), rowspan: node.getAttribute("rowspan") };
	return h(node.tagName.toLowerCase() as "td", spans, ...copies);
}
