// The history of a conversation, read from the notebook's cells and their saved outputs, without a kernel. The stage in
// JupyterLab (`js/lab/stage.ts`) shows it.

import type { CellSource } from "./cell-source.ts";

/** A run in the notebook. */
export interface Step {
	readonly key: string;
	readonly name: string;
	/** The first line of its prompt. */
	readonly prompt: string;
	/** The index of its cell. */
	readonly index: number;
	/** Identifies an execution: it changes when the cell is run again. */
	readonly execution: string;
	readonly busy: boolean;
	/** The run that it continues, if it is in the notebook. */
	readonly base: Step | null;
}

/** The versions of a run's page that a view can show. */
export interface Versions {
	/** The change numbers at which it can be shown, in order. */
	readonly moments: readonly number[];
	/** The visible change; null for the newest. */
	readonly moment: number | null;
	/** The start of a cell that continues from the visible version; null if that is not possible. */
	readonly next: CellSource | null;
	choose(moment: number | null): void;
}

export interface CellContent {
	readonly source: string;
	/** Its HTML outputs, concatenated. */
	readonly html: string;
	readonly executionCount: number | null;
}

const OUTPUT = /<!-- ([\p{L}\p{N}_]+): [^<>]* -->\s*<div data-anb-run="([^"]+)"(?: data-anb-id="([^"]+)")?/u;
const BASE = /\s--from[ =]["']?([\p{L}_][\p{L}\p{N}_]*)/u;

/** The runs in the order of their cells. */
export function readSteps(cells: readonly CellContent[]): Step[] {
	const steps: Step[] = [];
	for (const [index, { source, html, executionCount }] of cells.entries()) {
		const [, name = "", key = "", id = ""] = OUTPUT.exec(html) ?? [];
		if (!key) continue;
		const [head = "", ...prompt] = source.split("\n");
		const from = BASE.exec(head)?.[1];
		const base = steps.findLast((step) => step.name === from) ?? null;
		const text = prompt.find((line) => line.trim())?.trim() ?? "";
		steps.push({
			key,
			name,
			prompt: text,
			index,
			execution: id || `${executionCount}`,
			busy: id !== "",
			base,
		});
	}
	return steps;
}

/** The runs of one conversation: those that continue the same first run. */
export function conversationOf(steps: readonly Step[], member: Step): Step[] {
	return steps.filter((step) => firstOf(step) === firstOf(member));
}

function firstOf(step: Step): Step {
	return step.base ? firstOf(step.base) : step;
}

/**
 * The runs by key, newest last. `before` is the previous order: a run moves to the end when it starts, not when it
 * ends.
 */
export function orderOf(steps: readonly Step[], before: ReadonlyMap<string, Step>): Map<string, Step> {
	const isNew = (step: Step): boolean => {
		const previous = before.get(step.key);
		return !previous || (previous.execution !== step.execution && (step.busy || !previous.busy));
	};
	const unchanged = [...before.keys()].flatMap(
		(key) => steps.findLast((step) => step.key === key && !isNew(step)) ?? [],
	);
	const count = ({ busy, execution }: Step): number =>
		busy ? Number.POSITIVE_INFINITY : Number(execution) || 0;
	const started = steps.filter(isNew).toSorted((a, b) => count(a) - count(b) || 0);
	return new Map([...unchanged, ...started].map((step) => [step.key, step]));
}
