// Several answers to one prompt: how they are called, and what all of them together have come to.

import type { Usage } from "./events.ts";
import type { VariantState } from "./state.ts";

/** One variant as the page shows it: people count from 1 and call it an option. */
export interface Option {
	/** As on the wire, from 0. */
	readonly number: number;
	readonly label: string;
	/** The model's short name where the models differ, else nothing. */
	readonly model: string;
	readonly state: VariantState;
	/** The variant's clock, now. */
	readonly now: number;
}

/** What the header says of a run, or of all its variants. */
export interface Facts {
	readonly model: string;
	readonly demo: boolean;
	readonly usage: Pick<Usage, "input" | "output">;
	readonly cost: number | null;
	readonly estimated: boolean;
	readonly now: number;
}

export function shortModel(model: string): string {
	const short = model.slice(model.indexOf(":") + 1);
	return short || model.replace(":", "");
}

/** Names for all: the model is part of them only where it tells them apart. */
export function toOptions(variants: readonly Omit<Option, "label" | "model">[]): Option[] {
	const models = [...new Set(variants.map(({ state }) => state.model).filter(Boolean))];
	const differ = models.length > 1;
	const clash = new Set(models.map(shortModel)).size < models.length;
	return variants.map((variant) => {
		const full = variant.state.model;
		const model = differ && full ? (clash ? full : shortModel(full)) : "";
		const label = `Option ${variant.number + 1}`;
		return { ...variant, model, label: model ? `${label} · ${model}` : label };
	});
}

/** The title of the question a variant waits for, if it does. */
export function askingTitle(state: VariantState): string | null {
	if (!state.busy) return null;
	const row = state.rows.findLast((one) => one.kind === "tool" && one.status === "asking");
	return row?.kind === "tool" ? row.title : null;
}

/** Sums, and the longest time. A cost is known where one variant's is. */
export function factsOfAll(options: readonly Option[]): Facts {
	const states = options.map(({ state }) => state);
	const models = [...new Set(states.map((state) => state.model).filter(Boolean))];
	const costs = states.flatMap((state) => (state.cost === null ? [] : [state.cost]));
	const add = (values: number[]): number => values.reduce((sum, value) => sum + value, 0);
	return {
		model: models.length > 1 ? `${models.length} models` : (models[0] ?? ""),
		demo: models.length > 0 && models.every((model) => model.startsWith("demo:")),
		usage: {
			input: add(states.map((state) => state.usage.input)),
			output: add(states.map((state) => state.usage.output)),
		},
		cost: costs.length ? add(costs) : null,
		estimated: states.some((state) => state.estimated),
		now: Math.max(0, ...options.map((option) => option.now)),
	};
}

const MOST_GROUPS = 3;

/** "2 of 3 writing, 1 done": questions first, then what most are at, then how the others ended. */
export function phaseOfAll(options: readonly Option[]): string {
	const groups = new Map<string, { count: number; rank: number }>();
	for (const { state } of options) {
		const words = activity(state);
		const rank = askingTitle(state) !== null ? 0 : state.busy ? 1 : state.reason === "end_turn" ? 2 : 3;
		const known = groups.get(words);
		groups.set(words, { count: (known?.count ?? 0) + 1, rank });
	}
	const sorted = [...groups].sort(([, a], [, b]) => a.rank - b.rank || b.count - a.count);
	return sorted
		.slice(0, MOST_GROUPS)
		.map(([words, { count }], index) => `${count}${index ? "" : ` of ${options.length}`} ${words}`)
		.join(", ");
}

/** Only what a listener must know: who asks, and how many have come to their end. */
export function spokenOfAll(options: readonly Option[]): string {
	const asking = options.filter(({ state }) => askingTitle(state) !== null).length;
	const ended = options.filter(({ state }) => !state.busy);
	if (ended.length === options.length) return phaseOfAll(options);
	const words = [`${ended.length} of ${options.length} ended`];
	if (asking) words.push(`${asking} waiting for approval`);
	return words.join(", ");
}

/** The phase without the file, the tool or the seconds: what several can have in common. */
function activity(state: VariantState): string {
	if (askingTitle(state) !== null) return "waiting for approval";
	return state.busy ? (state.phase.split(" ")[0] ?? "") : state.phase;
}
