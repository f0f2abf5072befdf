// Several answers to one prompt: their labels, and combined figures and phases.

import { sumOf } from "../base/format.ts";
import type { Usage } from "./events.ts";
import type { VariantState } from "./state.ts";

/** One variant, ready to draw. */
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

/** The figures in the header, for one variant or all of them. */
export interface Facts {
	readonly model: string;
	/** The replayed cassette; empty for a run that called its model. */
	readonly replayed: string;
	readonly usage: Pick<Usage, "input" | "output">;
	readonly cost: number | null;
	readonly estimated: boolean;
	readonly now: number;
}

function replaySource({ settings }: VariantState): string {
	return String(settings.replayed ?? "");
}

export function shortModel(model: string): string {
	const short = model.slice(model.indexOf(":") + 1);
	return short || model.replace(":", "");
}

/** Labels each variant. The label includes the model only if the models differ. */
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
	const row = state.rows.findLast((candidate) => candidate.kind === "tool" && candidate.status === "asking");
	return row?.kind === "tool" ? row.title : null;
}

/** Sums of the figures, and the longest time. Variants of unknown cost are left out of the cost. */
export function factsOfAll(variants: readonly Variant[]): Facts {
	const states = variants.map(({ state }) => state);
	const models = [...new Set(states.map((state) => state.model).filter(Boolean))];
	const costs = states.flatMap((state) => (state.cost === null ? [] : [state.cost]));
	return {
		model: models.length > 1 ? `${models.length} models` : (models[0] ?? ""),
		replayed: states.every(replaySource) ? replaySource(states[0]!) : "",
		usage: {
			input: sumOf(states, ({ usage }) => usage.input),
			output: sumOf(states, ({ usage }) => usage.output),
		},
		cost: costs.length ? sumOf(costs, (cost) => cost) : null,
		estimated: states.some((state) => state.estimated),
		now: Math.max(0, ...variants.map((variant) => variant.now)),
	};
}

const MOST_GROUPS = 3;

/** "2 of 3 writing, 1 done": questions first, then the most common activity, then the endings. */
export function phaseOfAll(variants: readonly Variant[]): string {
	const groups = new Map<string, { count: number; rank: number }>();
	for (const { state } of variants) {
		const asks = askingTitle(state) !== null;
		// Without the subject of the phase, such as a file, several variants can share it.
		const activity = asks ? "waiting for approval" : state.phase.activity;
		const rank = asks ? 0 : state.busy ? 1 : state.reason === "end_turn" ? 2 : 3;
		const group = groups.get(activity);
		groups.set(activity, { count: (group?.count ?? 0) + 1, rank });
	}
	const sorted = [...groups].sort(([, a], [, b]) => a.rank - b.rank || b.count - a.count);
	return sorted
		.slice(0, MOST_GROUPS)
		.map(([activity, { count }], index) => `${count}${index ? "" : ` of ${variants.length}`} ${activity}`)
		.join(", ");
}

/** The screen reader text: how many variants have ended, and how many wait for an answer. */
export function spokenOfAll(variants: readonly Variant[]): string {
	const asking = variants.filter(({ state }) => askingTitle(state) !== null).length;
	const ended = variants.filter(({ state }) => !state.busy);
	if (ended.length === variants.length) return phaseOfAll(variants);
	const progress = `${ended.length} of ${variants.length} ended`;
	return asking ? `${progress}, ${asking} waiting for approval` : progress;
}
