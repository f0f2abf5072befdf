// The history of a conversation, read from the notebook's cells and their saved outputs, without a kernel. The stage in
// JupyterLab (`js/lab/stage.ts`) shows it.

import { promptInWords } from "../src/run/words.ts";

/** A run in the notebook. */
export interface Step {
	readonly key: string;
	readonly name: string;
	/** The first line of its prompt, in words. */
	readonly prompt: string;
	/** The index of its cell. */
	readonly index: number;
	/** Identifies an execution: it changes when the cell is run again. */
	readonly execution: string;
	readonly busy: boolean;
	/** The run that it continues, if it is in the notebook. */
	readonly base: Step | null;
}

export interface CellContent {
	readonly source: string;
	/** Its HTML outputs, concatenated. */
	readonly html: string;
	readonly executionCount: number | null;
}

const OUTPUT = /<!-- ([\p{L}\p{N}_]+): [^<>]* -->\s*<div data-anb-run="([^"]+)"(?: data-anb-id="([^"]+)")?/u;
const BASE = /^%%.*\s--from[ =]["']?([\p{L}_][\p{L}\p{N}_]*)/u;
const NAME = /^%%\S+ +([\p{L}_][\p{L}\p{N}_]*)/u;

/** The runs in the order of their cells. */
export function readSteps(cells: readonly CellContent[]): Step[] {
	const steps: Step[] = [];
	for (const [index, { source, html, executionCount }] of cells.entries()) {
		const [, name = "", key = "", id = ""] = OUTPUT.exec(html) ?? [];
		if (!key) continue;
		const base = steps.findLast((step) => step.name === baseOf(source)) ?? null;
		const [, ...prompt] = source.split("\n");
		const text = promptInWords(prompt.find((line) => line.trim())?.trim() ?? "");
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

/** The name of the run that a cell continues. */
export function baseOf(source: string): string | undefined {
	return BASE.exec(source)?.[1];
}

/** The index below the last cell of a conversation, which may not have been run yet. */
export function endOf(cells: readonly CellContent[], runs: readonly Step[]): number {
	const names = new Set(runs.map(({ name }) => name));
	let end = 0;
	for (const [index, { source }] of cells.entries()) {
		const base = baseOf(source);
		const continues = base !== undefined && names.has(base);
		if (!continues && !runs.some((step) => step.index === index)) continue;
		names.add(NAME.exec(source)?.[1] ?? "");
		end = index + 1;
	}
	return end;
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
	const isNew = (step: Step): boolean => hasStarted(step, before);
	const unchanged = [...before.keys()].flatMap(
		(key) => steps.findLast((step) => step.key === key && !isNew(step)) ?? [],
	);
	const count = ({ busy, execution }: Step): number =>
		busy ? Number.POSITIVE_INFINITY : Number(execution) || 0;
	const started = steps.filter(isNew).toSorted((a, b) => count(a) - count(b) || 0);
	return new Map([...unchanged, ...started].map((step) => [step.key, step]));
}

/** Whether a run has started since `before`. */
export function hasStarted(step: Step, before: ReadonlyMap<string, Step>): boolean {
	const previous = before.get(step.key);
	return !previous || (previous.execution !== step.execution && (step.busy || !previous.busy));
}
