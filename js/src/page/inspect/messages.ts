// The messages between the inspector and its script in the previewed page, which may forge them.

/** An element's tag, its number among the siblings of that tag, and their count. */
export type PathStep = readonly [tag: string, number: number, count: number];
export type Box = readonly [x: number, y: number, width: number, height: number];

/** A point in the page, a move from the last match, or a scroll. */
export type ElementQuery =
	| { x: number; y: number }
	| { move: "parent" | "child" | "next" | "previous" }
	| { scroll: [x: number, y: number] };

/** An element whose box the script reports from now on, with each match. */
export interface Selection {
	select: readonly PathStep[];
}

export interface ElementMatch {
	/** The path from the document element to the element. */
	readonly steps: readonly PathStep[];
	readonly box: Box;
	/** The boxes of the selected elements, in the order of their selection. Those that have left the page are empty. */
	readonly selected: readonly Box[];
}

const DEEPEST = 60;
const MOST_SELECTED = 1000;
const TAG = /^[a-z][a-z0-9-]{0,30}$/;

/** Validates an answer; null if our script would not send it. */
export function readMatch(data: unknown): ElementMatch | null {
	const { steps, box, selected } = (data ?? {}) as Record<string, unknown>;
	if (!Array.isArray(steps) || !steps.length || steps.length > DEEPEST || !isBox(box)) return null;
	if (!Array.isArray(selected) || selected.length > MOST_SELECTED || !selected.every(isBox)) return null;
	const isStep = (step: unknown): boolean => {
		if (!Array.isArray(step) || step.length !== 3) return false;
		const [tag, number, count] = step;
		return typeof tag === "string" && TAG.test(tag) && isCount(number) && isCount(count) && number <= count;
	};
	return steps.every(isStep) ? { steps, box, selected } : null;
}

function isBox(value: unknown): value is Box {
	return Array.isArray(value) && value.length === 4 && value.every(Number.isFinite);
}

function isCount(value: unknown): value is number {
	return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 99_999;
}
