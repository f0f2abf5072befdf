// Several answers to one prompt: their names, and the figures and phases of all of them together.

import type { Usage } from "./events.ts";
import type { VariantState } from "./state.ts";

/** One variant as the page shows it. */
export interface Variant {
	/** As on the wire, from 0. */
	readonly number: number;
	/** Counted from 1, and with the model where the models differ. */
	readonly label: string;
	/** The model's short name where the models differ, else empty. */
	readonly model: string;
	readonly state: VariantState;
	/** Seconds on the variant's clock. */
	readonly now: number;
}

/** The figures in the header, of one variant or of all of them. */
export interface Facts {
	readonly model: string;
	readonly demo: boolean;
	/** The cassette that was played; empty for a run that asked its model. */
	readonly replayed: string;
	readonly usage: Pick<Usage, "input" | "output">;
	readonly cost: number | null;
	readonly estimated: boolean;
	readonly now: number;
}

export function replaySource({ settings }: VariantState): string {
	return String(settings.replayed ?? "");
}

export function shortModel(model: string): string {
	const short = model.slice(model.indexOf(":") + 1);
	return short || model.replace(":", "");
}

/** Gives each variant its label. The model is part of it only where the models differ. */
export function toVariants(variants: readonly Omit<Variant, "label" | "model">[]): Variant[] {
	const models = [...new Set(variants.map(({ state }) => state.model).filter(Boolean))];
	const differ = models.length > 1;
	const clash = new Set(models.map(shortModel)).size < models.length;
	return variants.map((variant) => {
		const full = variant.state.model;
		const model = differ && full ? (clash ? full : shortModel(full)) : "";
		const label = `Variant ${variant.number + 1}`;
		return { ...variant, model, label: model ? `${label} · ${model}` : label };
	});
}

/** The title of the tool call that waits for approval, or null. */
export function askingTitle(state: VariantState): string | null {
	if (!state.busy) return null;
	const row = state.rows.findLast((one) => one.kind === "tool" && one.status === "asking");
	return row?.kind === "tool" ? row.title : null;
}

/** Sums, and the longest time. The cost is that of the variants whose cost is known. */
export function factsOfAll(variants: readonly Variant[]): Facts {
	const states = variants.map(({ state }) => state);
	const models = [...new Set(states.map((state) => state.model).filter(Boolean))];
	const costs = states.flatMap((state) => (state.cost === null ? [] : [state.cost]));
	const add = (values: number[]): number => values.reduce((sum, value) => sum + value, 0);
	return {
		model: models.length > 1 ? `${models.length} models` : (models[0] ?? ""),
		demo: models.length > 0 && models.every((model) => model.startsWith("demo:")),
		replayed: states.every(replaySource) ? replaySource(states[0]!) : "",
		usage: {
			input: add(states.map((state) => state.usage.input)),
			output: add(states.map((state) => state.usage.output)),
		},
		cost: costs.length ? add(costs) : null,
		estimated: states.some((state) => state.estimated),
		now: Math.max(0, ...variants.map((variant) => variant.now)),
	};
}

const MOST_GROUPS = 3;

/** "2 of 3 writing, 1 done": questions first, then what most are doing, then how the others ended. */
export function phaseOfAll(variants: readonly Variant[]): string {
	const groups = new Map<string, { count: number; rank: number }>();
	for (const { state } of variants) {
		const activity = activityOf(state);
		const rank = askingTitle(state) !== null ? 0 : state.busy ? 1 : state.reason === "end_turn" ? 2 : 3;
		const known = groups.get(activity);
		groups.set(activity, { count: (known?.count ?? 0) + 1, rank });
	}
	const sorted = [...groups].sort(([, a], [, b]) => a.rank - b.rank || b.count - a.count);
	return sorted
		.slice(0, MOST_GROUPS)
		.map(([activity, { count }], index) => `${count}${index ? "" : ` of ${variants.length}`} ${activity}`)
		.join(", ");
}

/** What a screen reader announces: only how many have ended and how many wait for an answer. */
export function spokenOfAll(variants: readonly Variant[]): string {
	const asking = variants.filter(({ state }) => askingTitle(state) !== null).length;
	const ended = variants.filter(({ state }) => !state.busy);
	if (ended.length === variants.length) return phaseOfAll(variants);
	const progress = `${ended.length} of ${variants.length} ended`;
	return asking ? `${progress}, ${asking} waiting for approval` : progress;
}

/** The phase without the file, the tool or the seconds, so that several variants can share it. */
function activityOf(state: VariantState): string {
	if (askingTitle(state) !== null) return "waiting for approval";
	return state.busy ? (state.phase.split(" ")[0] ?? "") : state.phase;
}
