// The state of a run on this page: a pure function of what its kernel says. Views read it.

import type { Meta, Ready } from "./events.ts";
import type { Batch, ReadyMessage, RunningCodeMessage } from "./protocol.ts";
import type { VariantState } from "./state.ts";

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

/** `variants` are the states after the change. */
export type RunChange =
	| { kind: "batch"; batch: Batch; meta: Meta; variants: RunState["variants"] }
	| { kind: "greeted"; meta: Meta }
	| { kind: "lost"; why: string; variants: RunState["variants"] }
	| { kind: "released" }
	| ReadyMessage
	| RunningCodeMessage;

/** The state after a change; null without a run. */
export function runAfter(state: RunState | null, change: RunChange): RunState | null {
	if (change.kind === "batch") {
		const { batch, meta, variants } = change;
		const ready = state?.id === batch.run_id ? state.ready : null;
		return { id: batch.run_id, meta, have: batch.last, variants, ready, lost: "" };
	}
	if (!state) return null;
	switch (change.kind) {
		case "greeted":
			return { ...state, meta: change.meta };
		case "ready":
			return state.id === change.run_id ? withReady(state, change) : state;
		case "running_code":
			return { ...state, meta: { ...state.meta, running_code: change.variants } };
		case "lost":
			return { ...state, variants: change.variants, lost: change.why };
		case "released":
			return null;
	}
}

function withReady(state: RunState, ready: ReadyMessage): RunState {
	const variants = new Map(state.variants);
	const variant = variants.get(ready.variant);
	if (variant && ready.fix) variants.set(ready.variant, { ...variant, fix: ready.fix });
	return { ...state, ready, variants };
}
