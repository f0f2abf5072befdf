// The tab "Notebook": each change of a cell that the run offers, as a diff of the whole cell, with Accept and Refuse.

import { h, icon, setChildren, setText, withCode } from "../../base/dom.ts";
import { plural } from "../../base/format.ts";
import { printable } from "../../base/printable.ts";
import { changesOf, titleOf } from "../../run/changes.ts";
import type { CellChange } from "../../run/events.ts";
import { currentState } from "../actions.ts";
import type { Context, Snapshot } from "../context.ts";
import { textButton } from "../shared/buttons.ts";
import { createInsertButton } from "../shared/cell-button.ts";
import { createDiffTable, diffOf } from "../shared/diff-table.ts";
import { secretsNote } from "../transcript/arguments.ts";
import type { Standing } from "./decisions.ts";
import * as proposal from "./decisions.ts";

export function createProposal(context: Context) {
	const summary = h("span", { class: "sp" });
	const acts = h("span", { class: "acts" });
	const note = h("p", { class: "anb-cap" });
	const cards = h("div");
	const head = h("div", { class: "anb-review" }, summary, acts);
	const review = h("div", { class: "anb-proposal" }, head, note, cards);
	/** Computed at each press, because the changes may differ from those when the button was drawn. */
	const acceptable = (): CellChange[] => changesOf(currentState(context)).filter(isAcceptable);
	const isAcceptable = (change: CellChange): boolean => {
		const { decision, now } = proposal.standingOf(context, change);
		return decision === "open" && now === null;
	};

	return {
		element: h("div", { class: "anb-stage plain" }, review),
		update({ state }: Snapshot) {
			const changes = changesOf(state);
			const why = proposal.whyNot(context);
			const standings = changes.map((change) => proposal.standingOf(context, change));
			const left = standings.filter(({ decision }) => decision === "open").length;
			setText(summary, `${plural(changes.length, "change")}${why ? "" : `, ${left || "none"} to decide`}`);
			setText(note, why);
			note.hidden = why === "";
			const some = why ? [] : changes.filter(isAcceptable);
			const labels = [
				...(some.length > 1 ? ["Accept all"] : []),
				...(some.some(proposal.isCode) ? ["Accept and run"] : []),
				...(!why && context.run.presses.length ? ["Undo"] : []),
			];
			setChildren(acts, labels.join(), () =>
				labels.map((label) =>
					textButton(label, (press) => {
						if (label === "Undo") void proposal.undo(context, press);
						else void proposal.accept(context, acceptable(), press, label === "Accept and run");
					}),
				),
			);
			setChildren(cards, JSON.stringify([why, changes, standings]), () =>
				changes.map((change, index) => createCard(context, change, standings[index]!)),
			);
		},
	};
}

function createCard(context: Context, change: CellChange, { decision, now, words }: Standing): HTMLElement {
	const label = titleOf(change);
	const acts: HTMLElement[] = [];
	const why = proposal.whyNot(context);
	const isOpen = why === "" && decision === "open";
	if (isOpen && now === null)
		acts.push(textButton("Accept", (press) => void proposal.accept(context, [change], press)));
	if (isOpen) acts.push(textButton("Refuse", () => void proposal.refuse(context, change)));
	const isLeft = isOpen ? now !== null : why === proposal.NO_EXTENSION;
	if (isLeft && proposal.isCode(change))
		acts.push(createInsertButton(context, isOpen ? "Insert below" : "Copy", change.after));
	if (proposal.sourceNow(context, change) !== null)
		acts.push(textButton("Show", () => void proposal.show(context, change)));
	const title = h("div", null, h("h4", null, label), h("span", { class: "sub" }, words));
	const tables = [table(change.before, change.after)];
	tables.push(...secretsNote(change.secrets ?? [], "The cell has it.").map(caption));
	if (now !== null)
		tables.unshift(
			caption("What has changed since"),
			table(change.before, now),
			caption("What the run offers"),
		);
	const header = h("header", null, icon("edit"), title, h("span", { class: "acts" }, ...acts));
	return h("section", { class: "anb-card", "aria-label": label }, header, ...tables);
}

function caption(text: string): HTMLElement {
	return h("p", { class: "anb-cap" }, ...withCode(text));
}

function table(before: string, after: string): HTMLElement {
	const lines = diffOf(printable(before), printable(after)).filter(
		({ text, sign }) => text !== "" || sign === " " || (before !== "" && after !== ""),
	);
	return createDiffTable(lines);
}
