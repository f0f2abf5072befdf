// The outputs of a tool: MIME bundles, each in its richest form.

import { h } from "../dom.ts";
import type { MimeBundle } from "../events.ts";
import { OUTPUT_POLICY } from "../preview/policy.ts";
import { CHECK_TYPE, type Check, createCheck } from "./checked.ts";
import { createDiffTable, parseUnifiedDiff } from "./difftable.ts";
import { createLongText, LongMarkdown } from "./long.ts";

export function createOutputs(outputs: readonly MimeBundle[]): Node[] {
	const images: Node[] = [];
	const rest: Node[] = [];
	for (const bundle of outputs) {
		const image = createImage(bundle);
		if (image) images.push(image);
		else rest.push(...createOutput(bundle));
	}
	return images.length ? [h("div", { class: "anb-thumbs" }, ...(images as HTMLElement[])), ...rest] : rest;
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
