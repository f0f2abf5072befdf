// The tab "Notebook": each change of a cell that the run offers, as a diff of the whole cell, with Accept and Refuse.

import { currentState } from "../../actions.ts";
import { changesOf, titleOf } from "../../changes.ts";
import { h, icon, setChildren, setText } from "../../dom.ts";
import type { CellChange, ChangeDecision } from "../../events.ts";
import { plural } from "../../format.ts";
import { printable } from "../../printable.ts";
import * as proposal from "../../proposal.ts";
import type { Context, Snapshot } from "../context.ts";
import { createDiffTable, diffOf } from "../shared/diff-table.ts";

export function createProposal(context: Context) {
	const summary = h("span", { class: "sp" });
	const acts = h("span", { class: "acts" });
	const note = h("p", { class: "anb-cap" });
	const cards = h("div");
	const head = h("div", { class: "anb-review" }, summary, acts);
	const element = h(
		"div",
		{ class: "anb-stage plain" },
		h("div", { class: "anb-proposal" }, head, note, cards),
	);
	const open = (): readonly CellChange[] =>
		changesOf(currentState(context)).filter((change) => proposal.decisionOf(context, change) === "open");
	const acceptable = () => open().filter((change) => !proposal.isStale(context, change));

	return {
		element,
		update({ state }: Snapshot) {
			const changes = changesOf(state);
			const why = proposal.whyNot(context);
			const left = open();
			setText(summary, `${plural(changes.length, "change")}${why ? "" : `, ${left.length} to decide`}`);
			setText(note, why);
			note.hidden = why === "";
			const some = why ? [] : acceptable();
			const buttons: [string, (press: MouseEvent) => Promise<void>, boolean][] = [
				["Accept all", (press) => proposal.accept(context, acceptable(), press), some.length > 0],
				[
					"Accept and run",
					(press) => proposal.accept(context, acceptable(), press, true),
					some.some(proposal.isCode),
				],
				["Undo", (press) => proposal.undo(context, press), !why && context.run.presses.length > 0],
			];
			const offered = buttons.filter(([, , isOffered]) => isOffered);
			setChildren(acts, offered.map(([label]) => label).join(), () =>
				offered.map(([label, act]) => button(label, (press) => void act(press))),
			);
			const states = changes.map((change) => stateOf(context, change));
			const stamp = JSON.stringify([why, changes, states]);
			setChildren(cards, stamp, () =>
				changes.map((change, index) => createCard(context, change, states[index]!, why === "")),
			);
		},
	};
}

interface CardState {
	readonly decision: ChangeDecision;
	/** The cell's text where it is no longer as it was; null if it is, or is unknown. */
	readonly now: string | null;
	readonly words: string;
}

function stateOf(context: Context, change: CellChange): CardState {
	const decision = proposal.decisionOf(context, change);
	if (proposal.whyNot(context)) return { decision, now: null, words: decision === "open" ? "" : decision };
	if (decision === "refused") return { decision, now: null, words: "Refused" };
	if (decision === "accepted") {
		const isAsShown = proposal.isAsShown(context, change);
		return {
			decision,
			now: null,
			words: isAsShown ? "Accepted: the notebook has it" : "Accepted, then changed",
		};
	}
	if (!proposal.isStale(context, change)) return { decision, now: null, words: "" };
	const now = proposal.sourceNow(context, change);
	return {
		decision,
		now: now ?? "",
		words: now === null ? "The cell is gone" : "The cell has changed since",
	};
}

function createCard(context: Context, change: CellChange, state: CardState, isOffered: boolean): HTMLElement {
	const { decision, now, words } = state;
	const title = h("h4", null, titleOf(change));
	const status = h("span", { class: "sub" }, words);
	const acts: HTMLElement[] = [];
	const isOpen = isOffered && decision === "open";
	if (isOpen && now === null)
		acts.push(button("Accept", (press) => void proposal.accept(context, [change], press)));
	if (isOpen) acts.push(button("Refuse", () => void proposal.refuse(context, [change])));
	if (proposal.sourceNow(context, change) !== null)
		acts.push(button("Show", () => void proposal.show(context, change)));
	const tables = [table("What the run offers", change.before, change.after)];
	if (now !== null) tables.unshift(table("What has changed since", change.before, now));
	const label = titleOf(change);
	return h(
		"section",
		{ class: "anb-card", "aria-label": label },
		h("header", null, icon("edit"), h("div", null, title, status), h("span", { class: "acts" }, ...acts)),
		...(now === null ? tables.map((one) => one.lastElementChild) : tables),
	);
}

function table(label: string, before: string, after: string): HTMLElement {
	const lines = diffOf(printable(before), printable(after)).filter(
		({ text, sign }) => text !== "" || sign === " " || (before !== "" && after !== ""),
	);
	return h("div", null, h("p", { class: "anb-cap" }, label), createDiffTable(lines));
}

function button(label: string, onclick: (press: MouseEvent) => void): HTMLElement {
	return h("button", { class: "anb-btn sm", onclick }, label);
}
