// The last card of a run that was stopped, reached a limit or failed: the kept files, and the cell that continues it.

import { h, icon, setAttribute, setChildren, setText, withCode } from "../../base/dom.ts";
import { plural } from "../../base/format.ts";
import { resumeText } from "../../run/ask.ts";
import { type CellSource, cellSource } from "../../run/cell-source.ts";
import { canInsert, sourceOf } from "../../run/cells.ts";
import { phaseText } from "../../run/phase.ts";
import type { RunState } from "../../run/run-state.ts";
import type { VariantState } from "../../run/state.ts";
import type { Context, Snapshot } from "../context.ts";
import { createCellButton } from "../shared/cell-button.ts";
import { failedCheck, statusOf } from "../shared/status.ts";
import { presentFiles, versionLabel } from "../shown.ts";

/** Maximum files to name, and other models to offer. */
const MOST = 3;

export function createEnd(context: Context) {
	const key = createCellButton(context, "Enter another key", { runs: true });
	const load = createCellButton(context, "Load what was saved", { runs: true });
	const again = createCellButton(context, "Retry", { runs: true });
	const others = Array.from({ length: MOST }, () =>
		createCellButton(context, "Another model", { runs: true }),
	);
	const more = createCellButton(context, "Continue", { runs: true });
	const cells = [key, load, again, ...others, more];
	const acts = h("div", { class: "in anb-retries" }, ...cells.map(({ element }) => element));
	const title = h("h4");
	const text = h("div", { class: "sub" });
	const list = h("div", { class: "sub" });
	const node = h("span", { class: "anb-node" });
	const card = h("div", { class: "anb-card" }, h("header", null, h("div", null, title, text, list)), acts);
	const element = h("li", { class: "anb-item" }, node, card);

	function draw(state: VariantState, heading: string, [why, files]: readonly [string, string]): void {
		const [tone, name] = statusOf(state);
		const bad = tone === "err" || heading === CHECK_FAILED;
		for (const part of [element, card]) part.classList.toggle("bad", bad);
		const glyph = bad ? "error" : (name ?? "stopped");
		setChildren(node, glyph, () => [icon(glyph)]);
		setAttribute(card, "role", bad ? "alert" : null);
		setText(title, heading);
		setChildren(text, why, () => withCode(why));
		setChildren(list, files, () => withCode(files));
	}

	return {
		element,
		update({ run, state }: Snapshot): boolean {
			const heading = headingOf(state, run);
			if (!heading) return false;
			draw(state, heading, [state.error || failedCheck(run), keptLine(state)]);
			const { again: retry = "", others: models = [] } = run.ready ?? {};
			const before = run.lost ? cellSource("setup", { rename: run.meta.magic }) : null;
			key.update(retry ? keyCell(run.meta.magic, state) : null);
			load.update(savedCell(run.meta, state));
			again.update(shownCell(retry || lostCell(context, state)), before);
			for (const [at, other] of others.entries()) other.update(shownCell(models[at]), before);
			more.update(retry ? null : continuingCell(context, state));
			acts.hidden = cells.every(({ element }) => element.hidden);
			return true;
		},
	};
}

const CHECK_FAILED = "The check failed";

/** The cell that asks for another key of the run's vendor; null unless the error names that command. */
function keyCell(magic: string, { error, model }: VariantState): CellSource | null {
	const [vendor = ""] = model.split(":");
	return error?.includes(`\`%agent key ${vendor}\``) ? cellSource("key", { magic, vendor }) : null;
}

function shownCell(shown = ""): CellSource | null {
	return cellSource("shown", { shown });
}

/** The card's title; empty if the run needs no card. */
export function headingOf(state: VariantState, run: RunState): string {
	if (state.busy) return "";
	if (state.cut) return run.lost.charAt(0).toUpperCase() + run.lost.slice(1);
	const how = state.reason === "failed" ? "failed" : `was ${phaseText(state.phase)}`;
	if (state.error || endedEarly(state)) return `The run ${how}`;
	return failedCheck(run) && CHECK_FAILED;
}

/** The cell that loads what a lost kernel had saved of the run. */
function savedCell({ magic, name }: RunState["meta"], state: VariantState): CellSource | null {
	return state.cut ? cellSource("load", { rename: magic, magic, name }) : null;
}

/** The source of the run's cell, for a lost kernel; empty if it cannot be inserted and run. */
function lostCell({ run }: Context, state: VariantState): string {
	const source = state.cut && canInsert(run) ? sourceOf(run) : "";
	return source.startsWith(`%%${run.state?.meta.magic} `) ? source : "";
}

/** Whether a run ended before its model was done. */
export function endedEarly({ busy, reason }: VariantState): boolean {
	return !busy && reason !== null && reason !== "end_turn" && reason !== "refusal";
}

/** Kept: `index.html` v2. Unfinished, not kept: `style.css`. Nothing is known of it if the kernel was lost. */
function keptLine(state: VariantState): string {
	if (!endedEarly(state) || state.cut) return "";
	const files = presentFiles(state);
	const kept = files.filter(({ versions }) => versions.length);
	const cut = files.filter(({ unfinished }) => unfinished !== null);
	const names = kept.map(({ path, versions }) => `\`${path}\` ${versionLabel(versions.at(-1))}`);
	const lost = cut.map(({ path }) => `\`${path}\``);
	return [
		...(kept.length ? [`Kept: ${listed(names)}.`] : []),
		...(lost.length ? [`Unfinished, not kept: ${listed(lost)}.`] : []),
	].join(" ");
}

function listed(names: readonly string[]): string {
	const omitted = names.length - MOST;
	return names.slice(0, MOST).join(", ") + (omitted > 0 ? ` and ${plural(omitted, "file")} more` : "");
}

/** The cell that continues a variant; null if it has ended as it should, or if the kernel has no such run. */
export function continuingCell(
	{ run, choices }: Context,
	state: VariantState,
	variant = choices.variant,
): CellSource | null {
	const { meta, lost = "" } = run.state ?? {};
	const can = endedEarly(state) && !lost && !choices.replay && run.digest !== null;
	return can && meta?.magic ? resumeText(run, variant) : null;
}
