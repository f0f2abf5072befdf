// The outputs of a tool: MIME bundles, each in its richest form.

import { h } from "../../dom.ts";
import type { MimeBundle } from "../../events.ts";
import { isPlain } from "../../tool-call.ts";
import type { Context } from "../context.ts";
import { createDiffTable, parseUnifiedDiff } from "../shared/diff-table.ts";
import { createLongText, LongMarkdown } from "./long-text.ts";
import { createRich } from "./rich-outputs.ts";

/** What is shown of a text while it grows: the newest characters and lines. */
const TAIL = 2_000;
const TAIL_LINES = 15;
/** The class of an image that is shown whole and in its place, as under a cell. */
const FIGURE = "anb-figure";
/** The kinds that are more than text or an image. */
const RICH = [
	"application/vnd.agent-nb.check+json",
	"application/vnd.agent-nb.interactive+json",
	"application/vnd.agent-nb.names+json",
	"text/html",
] as const;

export function createOutputs(context: Context, outputs: readonly MimeBundle[]): Node[] {
	const images: Node[] = [];
	const rest: Node[] = [];
	for (const bundle of outputs) {
		const image = createImage(bundle);
		if (image) (image.className === FIGURE ? rest : images).push(image);
		else if (RICH.some((type) => bundle[type])) rest.push(h("div", null, ...createRich(context, bundle)));
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
	if (typeof bundle["text/x-diff"] === "string")
		return [createDiffTable(parseUnifiedDiff(bundle["text/x-diff"]))];
	if (typeof bundle["text/markdown"] === "string") {
		const element = h("div", { class: "anb-md anb-out" });
		const markdown = new LongMarkdown(element);
		markdown.set(bundle["text/markdown"], true);
		return [element, markdown.rest.element];
	}
	const text = textOf(bundle["text/plain"]);
	return text ? createLongText(text) : [];
}

function textOf(value: unknown): string {
	return Array.isArray(value) ? value.join("") : typeof value === "string" ? value : "";
}
