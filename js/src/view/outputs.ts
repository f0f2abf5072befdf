// The outputs of a tool: MIME bundles, each in its richest form.

import { h } from "../dom.ts";
import type { MimeBundle } from "../events.ts";
import { OUTPUT_POLICY } from "../preview/policy.ts";
import { isPlain } from "../toolrow.ts";
import { CHECK_TYPE, type Check, createCheck } from "./checked.ts";
import type { Context } from "./context.ts";
import { createDiffTable, parseUnifiedDiff } from "./difftable.ts";
import { createLongText, LongMarkdown } from "./long.ts";
import { createNames, NAMES_TYPE, type Names } from "./names.ts";

/** Characters of a text that are shown while it grows: the newest. */
const TAIL = 2_000;

export function createOutputs(context: Context, outputs: readonly MimeBundle[]): Node[] {
	const images: Node[] = [];
	const rest: Node[] = [];
	for (const bundle of outputs) {
		const image = createImage(bundle);
		if (image) images.push(image);
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
	const lines = text
		.slice(-TAIL)
		.replace(/\r\n/g, "\n")
		.replace(/[^\n\r]*\r/g, "");
	return h("div", { class: "anb-code tail" }, h("pre", null, lines));
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
	const frame = h("iframe", { class: "anb-html", sandbox: "", title: "Tool output", loading: "lazy" });
	frame.srcdoc = OUTPUT_POLICY + html;
	return frame;
}

function textOf(value: unknown): string {
	return Array.isArray(value) ? value.join("") : typeof value === "string" ? value : "";
}
