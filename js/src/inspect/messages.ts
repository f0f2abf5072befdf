// The messages between the inspector and its script in the previewed page, which may forge them.

/** A point in the page, a move from the last match, or a scroll. */
export type ElementQuery =
	| { x: number; y: number }
	| { move: "parent" | "child" | "next" | "previous" }
	| { scroll: [x: number, y: number] };

/** An element's tag, its number among the siblings of that tag, and their count. */
export type PathStep = readonly [tag: string, number: number, count: number];

export interface ElementMatch {
	/** The path from the document element to the element. */
	readonly steps: readonly PathStep[];
	readonly box: readonly [x: number, y: number, width: number, height: number];
}

const DEEPEST = 60;
const TAG = /^[a-z][a-z0-9-]{0,30}$/;

/** Validates an answer; null if our script would not send it. */
export function readMatch(data: unknown): ElementMatch | null {
	const { steps, box } = (data ?? {}) as Record<string, unknown>;
	if (!Array.isArray(steps) || !Array.isArray(box) || box.length !== 4) return null;
	if (!steps.length || steps.length > DEEPEST || !box.every(Number.isFinite)) return null;
	const isStep = (step: unknown): boolean => {
		if (!Array.isArray(step) || step.length !== 3) return false;
		const [tag, number, count] = step;
		return typeof tag === "string" && TAG.test(tag) && isCount(number) && isCount(count) && number <= count;
	};
	return steps.every(isStep)
		? { steps: steps as PathStep[], box: box as unknown as ElementMatch["box"] }
		: null;
}

function isCount(value: unknown): value is number {
	return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 99_999;
}
