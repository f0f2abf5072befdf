// The controls that answer a question: the note to the model, the buttons, and their keys.

import { h, setAttribute, setText, showText } from "../../base/dom.ts";
import { canEdit, isQuestion } from "../../run/questions.ts";
import type { ToolRow } from "../../run/state.ts";
import type { AnswerDraft } from "../choices.ts";
import { showAllLabel } from "./arguments.ts";
import { drawGated } from "./gate.ts";

export type Action =
	| "approve"
	| "deny"
	| "always"
	| "together"
	| "run"
	| "try"
	| "undo"
	| "edit"
	| "leave"
	| "all";

interface AnswerButton {
	readonly action: Action;
	readonly look: string;
	readonly shortcut?: string;
	readonly key?: string;
}

const BUTTONS: readonly AnswerButton[] = [
	{ action: "all", look: " ghost" },
	{ action: "approve", look: " primary", shortcut: "y", key: "Y" },
	{ action: "deny", look: "", shortcut: "n", key: "N" },
	{ action: "try", look: " ghost", shortcut: "t", key: "T" },
	{ action: "together", look: " ghost" },
	{ action: "run", look: " ghost" },
	{ action: "always", look: " ghost", shortcut: "Shift+Y", key: "⇧Y" },
	{ action: "undo", look: " ghost" },
];
const LETTER_ACTIONS: Readonly<Record<string, Action>> = { y: "approve", n: "deny", e: "edit", t: "try" };
/** The key that approves while letters are text. */
const CHORD = /Mac|iP/.test(navigator.platform) ? "⌘Enter" : "Ctrl+Enter";

/** The label of the field, its placeholder, and what Enter does in it. */
const FIELD_TEXTS = {
	approval: [
		"Note to the model",
		"Note to the model (optional)",
		`Enter denies and sends the note, ${CHORD} approves.`,
	],
	question: ["Your answer", "Your answer", "Enter sends it."],
} as const;

type Act = (action: Action, byKey: boolean) => void;

export function createAnswer(act: Act) {
	const note = h("input", { class: "anb-note-input", type: "text" });
	const hint = h("p", { class: "anb-note warn", role: "alert", hidden: true });
	const enter = h("p", { class: "anb-cap enter" });
	const buttons = BUTTONS.map((button) => createButton(button, act));
	const parts = [note, enter, ...buttons.map((button) => button.element), hint];
	const element = h("div", { class: "anb-acts ask" }, ...parts);
	return {
		element,
		note,
		setHint: (text: string) => showText(hint, text),
		/** Enables the buttons: none before the card has settled, and no approval before its end was in view. */
		setReady(still: boolean, seen: boolean) {
			element.classList.toggle("waits", !still);
			for (const { action, element } of buttons)
				if (action !== "all") drawGated(element, still, seen || action === "deny");
		},
		offers: (action: Action): boolean =>
			buttons.some((button) => button.action === action && !button.element.hidden),
		/** `alike` is the number of questions that "together" would approve. */
		update(row: ToolRow, draft: AnswerDraft, alike: number) {
			const [label, placeholder, hint] = FIELD_TEXTS[isQuestion(row) ? "question" : "approval"];
			setAttribute(note, "aria-label", label);
			setAttribute(note, "placeholder", placeholder);
			setText(enter, hint);
			const labels = {
				...labelsOf(row, isChanged(draft), alike),
				all: draft.seen ? "" : showAllLabel(draft.args ?? row.args ?? {}),
				try: row.request?.can_try ? tryLabel(draft) : "",
			};
			for (const button of buttons) button.update(labels[button.action] ?? "", isTyped(row, draft));
		},
	};
}

function isChanged({ args, problems }: AnswerDraft): boolean {
	return args !== null || Object.keys(problems).length > 0;
}

/** An action without a label is hidden: an edited call is approved alone and once. */
function labelsOf(row: ToolRow, changed: boolean, alike: number): Partial<Record<Action, string>> {
	if (isQuestion(row)) return { approve: "Send", deny: "Skip" };
	if (changed) return { approve: "Approve with changes", deny: "Deny", undo: "Undo changes" };
	return {
		approve: "Approve",
		deny: "Deny",
		run: row.request?.allows_whole_run ? "Allow run_python for this run" : "",
		always: alwaysLabel(row),
		together: alike > 1 ? `Approve all ${alike} alike` : "",
	};
}

function tryLabel({ trial }: AnswerDraft): string {
	return !trial ? "Try it" : trial.result ? "Try it again" : "Stop trying";
}

function alwaysLabel(row: ToolRow): string {
	if (row.request?.identical_only) return "Always for exactly this call";
	return canEdit(row) ? "Always for this tool in this run" : "Always in this run";
}

function createButton({ action, look, shortcut, key }: AnswerButton, act: Act) {
	const label = h("span");
	const badge = h("span", { class: "anb-kbd", "aria-hidden": "true" });
	// Enter or Space on a button is a click with a detail of 0.
	const onclick = ({ detail }: MouseEvent): void => act(action, detail === 0);
	const element = h("button", { class: `anb-btn${look}`, onclick }, label, badge);
	return {
		action,
		element,
		update(text: string, typed: boolean) {
			element.hidden = text === "";
			setText(label, text);
			const [shown, pressed] = typed ? [action === "approve" && CHORD, "Control+Enter"] : [key, shortcut];
			badge.hidden = !shown;
			setText(badge, shown || "");
			setAttribute(element, "aria-keyshortcuts", shown ? (pressed ?? null) : null);
		},
	};
}

/** Whether letters are text, not keys: while the call is edited, and in a question. */
export function isTyped(row: ToolRow, { editing }: AnswerDraft): boolean {
	return editing || isQuestion(row);
}

/** The action of a key in the card. In the note, letters are text, and Enter performs the action `enter`. */
export function actionFor(
	event: KeyboardEvent,
	note: HTMLInputElement,
	{ typed, enter }: { typed: boolean; enter: Action },
): Action | null {
	const { key, shiftKey, target } = event;
	const typing = typed || target === note;
	if (typing && key === "Enter" && (event.ctrlKey || event.metaKey)) return "approve";
	if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return null;
	if (key === "Escape") return "leave";
	if (target === note) return key === "Enter" && note.value.trim() ? enter : null;
	if (typing) return null;
	const action = LETTER_ACTIONS[key.toLowerCase()] ?? null;
	return action === "approve" && shiftKey ? "always" : action;
}
