// The outputs of a tool: MIME bundles, each in its richest form.

import { h } from "../../dom.ts";
import type { MimeBundle } from "../../events.ts";
import { gated } from "../../preview/gate.ts";
import { OUTPUT_POLICY } from "../../preview/policy.ts";
import { isPlain } from "../../tool-call.ts";
import type { Context } from "../context.ts";
import { createDiffTable, parseUnifiedDiff } from "../shared/diff-table.ts";
import { createLongText, LongMarkdown } from "./long-text.ts";
import { createNames, NAMES_TYPE, type Names } from "./notebook-names.ts";
import { CHECK_TYPE, type Check, createCheck } from "./page-check.ts";
import { createPlainHtml } from "./plain-html.ts";

/** What is shown of a text while it grows: the newest characters and lines. */
const TAIL = 2_000;
const TAIL_LINES = 15;
/** The class of an image that is shown whole and in its place, as under a cell. */
const FIGURE = "anb-figure";
/** As `_FRAME_STYLE` of the saved form. */
const FRAME_STYLE = `<style>body{margin:8px;font:13px/1.5 system-ui,sans-serif}table{border-collapse:collapse}
td,th{padding:2px 10px;border:solid #e0e0e0;border-width:0 0 1px;text-align:right}</style>`;

export function createOutputs(context: Context, outputs: readonly MimeBundle[]): Node[] {
	const images: Node[] = [];
	const rest: Node[] = [];
	for (const bundle of outputs) {
		const image = createImage(bundle);
		if (image) (image.className === FIGURE ? rest : images).push(image);
		else if (bundle[NAMES_TYPE]) rest.push(createNames(context, bundle[NAMES_TYPE] as unknown as Names));
		else rest.push(...createOutput(bundle));
	}
	return images.length ? [h("div", { class: "anb-thumbs" }, ...(images as HTMLElement[])), ...rest] : rest;
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
					? [createTail(textOf(bundle["text/plain"]))]
					: createOutputs(context, [bundle]);
				element.append(h("div", null, ...(nodes as HTMLElement[])));
			}
			drawn = outputs;
		},
	};
}

/** The end of a text, with its lines as a terminal shows them: a carriage return begins the line again. */
function createTail(text: string): HTMLElement {
	const shown = text
		.slice(-TAIL)
		.replace(/\r\n/g, "\n")
		.replace(/[^\n\r]*\r/g, "");
	const lines = shown.trimEnd().split("\n").slice(-TAIL_LINES);
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
		const caption = textOf(bundle["text/plain"]);
		const image = h("img", { src: address, alt: caption || "image", loading: "lazy" });
		// `<Figure size 640x480>` is the repr of an object that a cell displays, and no caption.
		if (caption.startsWith("<")) return h("figure", { class: FIGURE }, image);
		return h(
			"figure",
			{ class: "anb-thumb", title: caption },
			h("button", { type: "button", onclick: () => showLarge(image) }, image),
			caption ? h("figcaption", { class: "anb-cap" }, caption) : null,
		);
	}
	return null;
}

/** The image in its own size, over everything. A click or Escape closes it. */
function showLarge(image: HTMLImageElement): void {
	const dialog = h("dialog", { class: "anb-large", onclick: () => dialog.close() }, image.cloneNode());
	dialog.onclose = () => dialog.remove();
	image.closest("figure")?.append(dialog);
	dialog.showModal();
}

function createOutput(bundle: MimeBundle): Node[] {
	const check = bundle[CHECK_TYPE];
	if (check) return createCheck(check as unknown as Check);
	if (typeof bundle["text/x-diff"] === "string")
		return [createDiffTable(parseUnifiedDiff(bundle["text/x-diff"]))];
	if (typeof bundle["text/html"] === "string") return [createHtml(bundle["text/html"])];
	if (typeof bundle["text/markdown"] === "string") {
		const element = h("div", { class: "anb-md anb-out" });
		const markdown = new LongMarkdown(element);
		markdown.set(bundle["text/markdown"], true);
		return [element, markdown.rest.element];
	}
	const text = textOf(bundle["text/plain"]);
	return text ? createLongText(text) : [];
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

function textOf(value: unknown): string {
	return Array.isArray(value) ? value.join("") : typeof value === "string" ? value : "";
}
