// Text as the kernel counts it, in code points, and patches by whole lines.

import type { LinePatch } from "./events.ts";

/** How many code points a string has; `length` counts those above U+FFFF twice. */
export function countPoints(text: string): number {
	return [...text].length;
}

/** The first `points` code points of a string. */
export function sliceToPoint(text: string, points: number): string {
	return [...text].slice(0, points).join("");
}

/** The text after a patch. Its hunks name lines of the text before it, so the last one is applied first. */
export function applyPatch(text: string, patch: readonly LinePatch[]): string {
	const lines = text.split("\n");
	for (const [start, count, replacement] of patch.toReversed()) lines.splice(start, count, replacement);
	return lines.join("\n");
}

export function isText(mediaType: string): boolean {
	return /^text\/|[/+](json|xml|javascript|x-sh|yaml|toml)\b|^image\/svg/.test(mediaType);
}
