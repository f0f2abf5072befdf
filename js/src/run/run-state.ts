// The state of a run on this page: a pure function of what its kernel says. Views read it.

import type { Meta, Ready, RunFinished } from "./events.ts";
import type { Batch, ReadyMessage, RunningCodeMessage } from "./protocol.ts";
import { EMPTY, reduce, type VariantState } from "./state.ts";

/** One execution of a cell, as received so far. */
export interface RunState {
	readonly id: string;
	readonly meta: Meta;
	/** Number of events received. */
	readonly have: number;
	readonly variants: ReadonlyMap<number, VariantState>;
	readonly ready: Ready | null;
	/** Why the kernel lost the run, such as "the kernel was restarted"; empty while it has it. */
	readonly lost: string;
}

/** `endings` end the variants that had not ended when the kernel was lost. */
export type RunChange =
	| (Batch & { meta: Meta })
	| { kind: "greeted"; meta: Meta }
	| { kind: "lost"; why: string; endings: readonly RunFinished[] }
	| { kind: "released" }
	| ReadyMessage
	| RunningCodeMessage;

/** The state after a change; null without a run. */
export function runAfter(state: RunState | null, change: RunChange): RunState | null {
	if (change.kind === "batch") return withBatch(state, change);
	if (!state) return null;
	switch (change.kind) {
		case "greeted":
			return { ...state, meta: change.meta };
		case "ready":
			return state.id === change.run_id ? withReady(state, change) : state;
		case "running_code":
			return { ...state, meta: { ...state.meta, running_code: change.variants } };
		case "lost":
			return withLoss(state, change);
		case "released":
			return null;
	}
}

function withBatch(state: RunState | null, batch: Batch & { meta: Meta }): RunState {
	const { run_id: id, first, last: have, events, meta } = batch;
	const same = state?.id === id ? state : null;
	const variants = new Map(first === 1 ? [] : same?.variants);
	for (const event of events)
		variants.set(event.variant, reduce(variants.get(event.variant) ?? EMPTY, event));
	if (variants.size === 0) variants.set(0, EMPTY);
	return { id, meta, have, variants, ready: same?.ready ?? null, lost: "" };
}

function withLoss(state: RunState, { why, endings }: RunChange & { kind: "lost" }): RunState {
	const variants = new Map(state.variants);
	for (const ending of endings) {
		const before = variants.get(ending.variant) ?? EMPTY;
		const { estimated } = before;
		const after = { ...reduce(before, ending), phase: { activity: why }, estimated, cut: true };
		variants.set(ending.variant, after);
	}
	return { ...state, variants, lost: why };
}

function withReady(state: RunState, ready: ReadyMessage): RunState {
	const variants = new Map(state.variants);
	const variant = variants.get(ready.variant);
	if (variant && ready.fix) variants.set(ready.variant, { ...variant, fix: ready.fix });
	return { ...state, ready, variants };
}
