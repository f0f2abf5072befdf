// The changes of cells that a run offers, from the outputs of its tool calls.

import type { CellChange } from "./events.ts";
import type { VariantState } from "./state.ts";

const CHANGE_TYPE = "application/vnd.agent-nb.change+json";

const proposals = new WeakMap<VariantState["rows"], readonly CellChange[]>();

/** The last change of each cell, in the order that the notebook gets. */
export function changesOf({ rows, fix }: VariantState): readonly CellChange[] {
	const changes = proposals.get(rows) ?? changesIn(rows);
	proposals.set(rows, changes);
	return fix ? [fix, ...changes] : changes;
}

function changesIn(rows: VariantState["rows"]): readonly CellChange[] {
	const bundles = rows.flatMap((row) => (row.kind === "tool" ? row.outputs : []));
	const changes = bundles.map((bundle) => bundle[CHANGE_TYPE]).filter(isChange);
	const last = new Map(changes.map((change) => [change.id, change]));
	const offered = [...last.values()].filter(
		({ action, before, after }) => action === "delete" || before !== after,
	);
	const below = ({ number, action }: CellChange): number => number + (action === "insert" ? 0.5 : 0);
	return offered.sort((a, b) => below(a) - below(b) || (a.place ?? 0) - (b.place ?? 0));
}

/** A run's file may come from someone else. */
function isChange(value: unknown): value is CellChange {
	const { id, action, cell_id, number, kind, before, after, secrets = [] } = (value ?? {}) as CellChange;
	const texts: unknown[] = [id, action, cell_id, kind, before, after];
	return (
		texts.every((text) => typeof text === "string") && typeof number === "number" && Array.isArray(secrets)
	);
}

export function titleOf({ action, kind, number }: CellChange): string {
	if (action === "change" && number === 0) return "The failed cell";
	if (action !== "insert") return `Cell ${number}${action === "delete" ? ", deleted" : ""}`;
	const name = kind === "markdown" ? "Markdown" : kind;
	return `New ${name} cell ${number ? `below cell ${number}` : "at the top"}`;
}
