// Asks the user whether a tool may run.

import { h, hasFocus, listen, moveFocus, withCode } from "../../dom.ts";
import { createForm } from "../../form/form.ts";
import { LETTERS } from "../../keys.ts";
import { printable } from "../../printable.ts";
import {
	countAlike,
	type Draft,
	type Form,
	newDraft,
	type Question,
	questionKey,
	questionsOf,
} from "../../questions.ts";
import type { ToolRow } from "../../state.ts";
import { type Context, follow, type Outcome, openVariant, type Snapshot, STOP_HINT } from "../context.ts";
import { type Action, actionFor, createAnswer } from "./approval-answers.ts";
import { createCall } from "./approval-call.ts";
import { createCardHead } from "./approval-head.ts";
import { ANSWER_KEY } from "./approval-key.ts";
import { Stillness } from "./stillness.ts";

/** The card of a question. It never takes the focus by itself, and its keys act only while it has the focus. */
export class Approval {
	readonly element: HTMLElement;
	readonly #context: Context;
	readonly #variant: number;
	readonly #head = createCardHead(
		() => this.#act(this.#draft.editing ? "leave" : "edit"),
		() => this.#goToNext(),
	);
	readonly #call: ReturnType<typeof createCall>;
	readonly #answer: ReturnType<typeof createAnswer>;
	readonly #stillness: Stillness;
	#row: ToolRow;
	#draft: Draft = newDraft();
	/** The position of the question that is shown among the run's events. */
	#shown = 0;
	#sent = false;
	#questions: readonly Question[] = [];

	constructor(context: Context, row: ToolRow) {
		this.#context = context;
		this.#variant = context.choices.variant;
		this.#row = row;
		this.#call = createCall(() => this.#drawAnswer());
		this.#answer = createAnswer((action, byKey) => this.#act(action, byKey), context.signal);
		this.#stillness = new Stillness(this.#answer.element, context.signal, this.#answer.setStill);
		this.element = h(
			"div",
			// The keys work after a click anywhere on the card.
			{ class: "anb-card ask", role: "group", tabindex: -1, hidden: true, "aria-keyshortcuts": ANSWER_KEY },
			this.#head.element,
			this.#call.element,
			this.#answer.element,
		);
		const { note } = this.#answer;
		listen(note, "input", context.signal, () => {
			this.#draft.note = note.value;
		});
		listen(this.element, "keydown", context.signal, (event) => this.#onKey(event));
	}

	update(row: ToolRow): void {
		this.#row = row;
		const asking = row.status === "asking";
		const held = !asking && hasFocus(this.element);
		this.element.hidden = !asking;
		if (held) moveFocus(this.element.parentElement?.querySelector("summary"));
		const asked = asking ? row.asked : 0;
		if (asking && this.#shown !== asked) this.#ask();
		if (!asking && this.#shown) {
			this.#context.choices.drafts.delete(this.#key);
			this.#stillness.unwatch();
		}
		this.#shown = asked;
	}

	/** Draws what depends on others: who may answer, and which questions wait beside this one. */
	readonly offer = ({ variants }: Snapshot): void => {
		const { choices } = this.#context;
		const questions = this.#mayAnswer ? questionsOf(variants) : [];
		const same = questions.length === this.#questions.length;
		if (!same || questions.some(({ row }, index) => row !== this.#questions[index]?.row)) {
			this.#questions = questions;
			this.#head.setQueue(this.#position, questions.length);
			this.#drawAnswer();
		}
		this.#answer.element.hidden = !this.#mayAnswer;
		this.#head.offer(this.#mayAnswer, canEdit(this.#row), this.#draft.editing);
		if (choices.question !== this.#key) return;
		choices.question = null;
		this.element.scrollIntoView?.({ block: "nearest" });
		moveFocus(this.element);
	};

	get #key(): string {
		return questionKey({ variant: this.#variant, row: this.#row });
	}

	get #mayAnswer(): boolean {
		return this.#context.choices.replay === null;
	}

	get #position(): number {
		return this.#questions.findIndex((question) => questionKey(question) === this.#key);
	}

	#ask(): void {
		const { choices, announce } = this.#context;
		const row = this.#row;
		this.#draft = choices.drafts.get(this.#key) ?? newDraft();
		choices.drafts.set(this.#key, this.#draft);
		this.#answer.note.value = this.#draft.note;
		this.#setSent(false);
		this.#answer.setHint("");
		const title = printable(row.title);
		const [description] = printable(row.description ?? "").split("\n\n", 1);
		this.#head.ask(title, description ? withCode(description) : [asksFirst(row)]);
		this.element.setAttribute("aria-label", `Allow ${title}?`);
		this.element.dataset.question = this.#key;
		this.#draw();
		this.#stillness.watch();
		if (!choices.replay) announce(`Approval needed: ${title}`);
		requestAnimationFrame(() => scrollToCard(this.element, this.#call.element));
	}

	#draw(): void {
		this.#call.draw(this.#row, this.#draft);
		// In the fields of the form letters are text, so none of them answers.
		this.element.setAttribute(LETTERS, this.#draft.editing ? "Ctrl+Enter" : "y n e");
		this.#drawAnswer();
		this.#context.redraw();
	}

	#drawAnswer(): void {
		this.#answer.update(this.#row, this.#draft, countAlike(this.#questions, this.#row));
	}

	#onKey(event: KeyboardEvent): void {
		const action = actionFor(event, this.#answer.note, this.#draft.editing);
		if (!action) return;
		event.preventDefault();
		event.stopPropagation();
		if (action === "leave" && event.target === this.#answer.note) moveFocus(this.element);
		else this.#act(action, true);
	}

	#act(action: Action, byKey = false): void {
		if (action === "leave") this.#leave();
		else if (!this.#mayAnswer || this.#sent) return;
		else if (action === "edit") this.#edit();
		else if (action === "undo") this.#undo();
		else if (!this.#answer.offers(action)) return;
		else if (this.#stillness.check(byKey)) this.#send(action);
		else this.#context.notify("The card had just appeared or moved, so that press did not count.");
	}

	/** Out of the fields to the card, out of the card to the transcript. It answers nothing, and what was typed stays. */
	#leave(): void {
		const { editing } = this.#draft;
		moveFocus(editing ? this.element : this.element.closest<HTMLElement>(".anb-scroll"));
		this.#draft.editing = false;
		if (!editing) return;
		this.#draw();
		scrollToCard(this.element, this.#call.element);
	}

	/** Turns the arguments into fields. */
	#edit(): void {
		if (!canEdit(this.#row)) return;
		this.#openForm().focus();
	}

	#openForm(): Form {
		const { args, schema } = this.#row;
		this.#draft.form ??= createForm(args ?? {}, schema);
		this.#draft.editing = true;
		this.#draw();
		return this.#draft.form;
	}

	#undo(): void {
		Object.assign(this.#draft, { ...newDraft(), note: this.#draft.note });
		this.#draw();
		moveFocus(this.element);
	}

	#send(action: Action): void {
		const { args, problems } = this.#draft;
		const note = this.#answer.note.value.trim();
		if (action !== "deny" && Object.keys(problems).length > 0) {
			this.#edit();
			return;
		}
		const deny = action === "deny";
		const fields = {
			variant: this.#variant,
			call_id: this.#row.call_id,
			...((deny || note) && { note }),
			...(!deny && args && { args }),
			...(isScope(action) && { scope: action }),
		};
		this.#setSent(true);
		const reply = this.#context.run.command(deny ? "deny" : "approve", fields);
		follow(this.#context, reply, STOP_HINT, (result) => this.#report(result));
	}

	#report(result: Outcome): void {
		this.#setSent(result.done);
		this.#answer.setHint(result.done ? "" : result.why);
		if (result.done || Object.keys(result.fields ?? {}).length === 0) return;
		const held = hasFocus(this.element);
		const form = this.#openForm();
		this.#answer.setHint(form.refuse(result.fields ?? {}).join(" "));
		if (held) form.focus();
	}

	#setSent(sent: boolean): void {
		this.#sent = sent;
		this.#answer.element.classList.toggle("sent", sent);
	}

	#goToNext(): void {
		const next = this.#questions[(this.#position + 1) % this.#questions.length];
		if (!next) return;
		this.#context.choices.question = questionKey(next);
		openVariant(this.#context, next.variant);
	}
}

/** What an answer covers besides the call itself. */
function isScope(action: Action): boolean {
	return action === "always" || action === "together" || action === "run";
}

function canEdit({ schema }: ToolRow): boolean {
	return Object.keys(schema).length > 0;
}

function asksFirst({ name }: ToolRow): HTMLElement {
	return h("span", null, h("code", null, printable(name)), " asks before it runs.");
}

/** Scrolls to the card without taking the focus: the user may be typing elsewhere. */
function scrollToCard(card: HTMLElement, fields: HTMLElement): void {
	if (!card.isConnected) return;
	card.scrollIntoView?.({ block: "nearest" });
	// A card that is taller than its pane shows its beginning.
	fields.firstElementChild?.scrollIntoView?.({ block: "nearest" });
}
