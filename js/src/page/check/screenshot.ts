// Takes a screenshot of the page, from the top to the end or to the maximum height.

import { snapdom } from "@zumer/snapdom";
import type { Report } from "./messages.ts";

const MOST_HEIGHT = 4096;
/** Maximum elements that can be drawn in time. */
const MOST_ELEMENTS = 8000;
/** Maximum base64 length of an image: two of them and the rest of the report are one message. */
const MOST_PNG = 2_500_000;
/** Maximum length of an element's image on its long side, in pixels. */
const MOST_SIDE = 400;

export async function screenshot(): Promise<Report["screenshots"][number]> {
	checkCount(document);
	const width = window.innerWidth;
	const height = Math.max(document.documentElement.scrollHeight, window.innerHeight);
	const clip = { x: 0, y: 0, width, height: Math.min(height, MOST_HEIGHT) };
	const root = document.documentElement;
	const backgroundColor = backgroundOf(root) ?? backgroundOf(document.body) ?? "#ffffff";
	const canvas = await snapdom.toCanvas(root, { scale: 1, dpr: 1, fast: "auto", backgroundColor, clip });
	return { width, height, png: encoded(canvas), cut: clip.height < height };
}

/** A small image of an element, in base64. */
export async function imageOf(element: Element): Promise<string> {
	checkCount(element);
	const { width, height } = element.getBoundingClientRect();
	if (Math.min(width, height) < 1) return "";
	const scale = Math.min(1, MOST_SIDE / Math.max(width, height));
	const backgroundColor = backgroundBehind(element);
	return encoded(await snapdom.toCanvas(element, { scale, dpr: 1, fast: "auto", backgroundColor }));
}

function checkCount(within: ParentNode): void {
	const count = within.querySelectorAll("*").length;
	if (count > MOST_ELEMENTS) throw new Error(`the page has ${count} elements`);
}

function backgroundBehind(element: Element): string {
	for (let at: Element | null = element; at; at = at.parentElement) {
		const background = backgroundOf(at);
		if (background && !/, 0\)$/.test(background)) return background;
	}
	return "#ffffff";
}

/** The background behind the whole page is that of the root, or of the body if the root has none. */
function backgroundOf(element: Element): string | null {
	const { backgroundColor, backgroundImage } = getComputedStyle(element);
	const none = /^(transparent|rgba\(0, 0, 0, 0\))$/.test(backgroundColor) && backgroundImage === "none";
	return none ? null : backgroundColor;
}

/** Halves the image until it fits. */
function encoded(canvas: HTMLCanvasElement): string {
	const [, png = ""] = canvas.toDataURL("image/png").split(",");
	if (png.length <= MOST_PNG) return png;
	const smaller = document.createElement("canvas");
	smaller.width = Math.ceil(canvas.width / 2);
	smaller.height = Math.ceil(canvas.height / 2);
	const drawing = smaller.getContext("2d");
	if (drawing) drawing.imageSmoothingQuality = "high";
	drawing?.drawImage(canvas, 0, 0, smaller.width, smaller.height);
	return encoded(smaller);
}

/** Makes WebGL preserve its drawing buffer, which it clears by default. Call it before the page runs. */
export function keepDrawings(): void {
	const { prototype } = HTMLCanvasElement;
	const { getContext } = prototype;
	prototype.getContext = function (this: HTMLCanvasElement, kind: string, options?: object) {
		const preserved = kind.startsWith("webgl") ? { ...options, preserveDrawingBuffer: true } : options;
		return getContext.call(this, kind, preserved);
	} as typeof getContext;
}
