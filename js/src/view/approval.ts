// Asks the person whether a tool may run.

import { h, hasFocus, listen, moveFocus, setText, withCode } from "../dom.ts";
import type { ToolRow } from "../state.ts";
import { type Context, follow, STOP_HINT } from "./context.ts";

export function createApproval(context: Context, callId: string) {
	const heading = h("h4");
	const sub = h("p", { class: "sub" });
	const fields = h("div", { class: "in" });
	const answer = createAnswer(context, callId);
	const header = h("header", null, h("div", null, heading, sub));
	const element = h(
		"div",
		// The keys work after a click anywhere on the card.
		{ class: "anb-card ask", role: "group", tabindex: -1, hidden: true },
		header,
		fields,
		answer.element,
	);
	let shown = false;
	listen(element, "keydown", context.signal, answer.onKey);

	function ask(row: ToolRow): void {
		const title = visible(row.title);
		heading.replaceChildren(...withCode(`Allow “${title}”?`));
		const [description] = visible(row.description ?? "").split("\n\n", 1);
		sub.replaceChildren(...(description ? withCode(description) : [asksFirst(row)]));
		fields.replaceChildren(...fieldsOf(row));
		answer.offer();
		element.setAttribute("aria-label", `Allow ${title}?`);
		if (!context.choices.replay) context.announce(`Approval needed: ${title}`);
		requestAnimationFrame(() => scrollToCard(element, fields));
	}

	return {
		element,
		offer: answer.offer,
		update(row: ToolRow) {
			const asking = row.status === "asking";
			const held = !asking && hasFocus(element);
			element.hidden = !asking;
			if (held) moveFocus(element.parentElement?.querySelector("summary"));
			if (asking && !shown) ask(row);
			shown = asking;
		},
	};
}

function asksFirst({ name }: ToolRow): HTMLElement {
	return h("span", null, h("code", null, visible(name)), " asks before it runs.");
}

/** Scrolls to the card without taking the focus: the person may be typing elsewhere. */
function scrollToCard(card: HTMLElement, fields: HTMLElement): void {
	if (!card.isConnected) return;
	card.scrollIntoView?.({ block: "nearest" });
	// A card that is taller than its pane shows its beginning.
	fields.firstElementChild?.scrollIntoView?.({ block: "nearest" });
}

type Answer = { command: "approve" | "deny"; always?: true };

/** The note to the model and the three buttons. Their keys act only while the focus is in the card. */
function createAnswer(context: Context, callId: string) {
	const { signal, run, choices } = context;
	const { variant } = choices;
	const note = createNote();
	const hint = h("p", { class: "anb-note warn", role: "alert", hidden: true });
	const buttons = createButtons((answer) => send(answer), signal);
	const enter = h("p", { class: "anb-cap enter" }, "Enter in the note denies and sends it.");
	const element = h("div", { class: "anb-acts ask" }, note, enter, ...buttons, hint);
	let sent = false;

	function setSent(value: boolean): void {
		sent = value;
		element.classList.toggle("sent", value);
	}

	function send({ command, ...extra }: Answer): void {
		if (sent || run.state?.owner === false || choices.replay) return;
		setSent(true);
		const text = note.value.trim();
		const fields = command === "deny" || text ? { note: text } : {};
		const reply = run.command(command, { variant, call_id: callId, ...fields, ...extra });
		follow(context, reply, STOP_HINT, (result) => {
			setSent(result.done);
			hint.hidden = result.done;
			if (!result.done) setText(hint, result.why);
		});
	}

	return {
		element,
		onKey(event: KeyboardEvent) {
			const answer = event.target === note ? noteAnswer(event, note) : answerFor(event);
			if (!answer) return;
			send(answer);
			event.preventDefault();
			event.stopPropagation();
		},
		/** Hides the buttons when another page turns out to own the run, and in a replay. */
		offer() {
			element.hidden = run.state?.owner === false || choices.replay !== null;
		},
	};
}

function createNote(): HTMLInputElement {
	return h("input", {
		class: "anb-note-input",
		type: "text",
		"aria-label": "Note to the model",
		placeholder: "Note to the model (optional)",
	});
}

interface AnswerButton {
	readonly label: string;
	readonly look: string;
	readonly shortcut: string;
	readonly key: string;
	readonly answer: Answer;
}

const BUTTONS: readonly AnswerButton[] = [
	{ label: "Approve", look: "primary", shortcut: "y", key: "Y", answer: { command: "approve" } },
	{ label: "Deny", look: "", shortcut: "n", key: "N", answer: { command: "deny" } },
	{
		label: "Always allow in this run",
		look: "ghost",
		shortcut: "Shift+Y",
		key: "⇧Y",
		answer: { command: "approve", always: true },
	},
];

function createButtons(send: (answer: Answer) => void, signal: AbortSignal): HTMLElement[] {
	return BUTTONS.map(({ label, look, shortcut, key, answer }) => {
		const button = h(
			"button",
			{ class: `anb-btn ${look}`.trim(), type: "button", "aria-keyshortcuts": shortcut },
			label,
			h("span", { class: "anb-kbd", "aria-hidden": "true" }, key),
		);
		listen(button, "click", signal, () => send(answer));
		return button;
	});
}

/** Enter must not approve anything by accident: it sends the note with a no. */
function noteAnswer({ key, isComposing }: KeyboardEvent, note: HTMLInputElement): Answer | null {
	return key === "Enter" && !isComposing && note.value.trim() ? { command: "deny" } : null;
}

function answerFor(event: KeyboardEvent): Answer | null {
	if (event.ctrlKey || event.metaKey || event.altKey) return null;
	const key = event.key.toLowerCase();
	if (key === "n") return { command: "deny" };
	if (key !== "y") return null;
	return event.shiftKey ? { command: "approve", always: true } : { command: "approve" };
}

/** Arguments wrap and never scroll sideways, so that everything to be approved is in sight. */
function fieldsOf(row: ToolRow): Node[] {
	return Object.entries(row.args ?? {}).flatMap(([name, value]) => [
		h("div", { class: "field" }, visible(name)),
		h(
			"pre",
			{ class: "anb-ask", tabindex: 0 },
			visible(typeof value === "string" ? value : JSON.stringify(value, null, 2)),
		),
	]);
}

/** Writes out bidi control characters, so that text to be approved reads in the order in which it runs. */
function visible(text: string): string {
	return text.replace(
		/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
		(character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
}
