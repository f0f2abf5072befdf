// Asks the user whether a tool may run.

import { h, hasFocus, icon, moveFocus, setText, withCode } from "../../base/dom.ts";
import { changedNames } from "../../base/json.ts";
import { ANSWER_KEY, LETTERS } from "../../base/keys.ts";
import { printable } from "../../base/printable.ts";
import {
	askedAt,
	canEdit,
	countAlike,
	isQuestion,
	type Question,
	questionKey,
	questionsOf,
	schemaOf,
	secretsOf,
} from "../../run/questions.ts";
import type { ToolRow } from "../../run/state.ts";
import { AnswerDraft, type Form, type Trial } from "../choices.ts";
import { type Context, follow, type Outcome, openVariant, type Snapshot, STOP_HINT } from "../context.ts";
import { type Action, actionFor, createAnswer, isTyped } from "./approval-answers.ts";
import { createArguments, createChange } from "./arguments.ts";
import { createForm } from "./form.ts";
import { createGate, scrollToCard } from "./gate.ts";
import { createTrial } from "./trial.ts";

/** The answers that cover further calls. */
const SCOPES: readonly Action[] = ["always", "together", "run"];

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
	readonly #trial: ReturnType<typeof createTrial>;
	readonly #answer: ReturnType<typeof createAnswer>;
	readonly #gate: ReturnType<typeof createGate>;
	#row: ToolRow;
	#draft = new AnswerDraft();
	/** The `seq` of the visible question. */
	#shown = 0;
	#sent = false;
	#questions: readonly Question[] = [];

	constructor(context: Context, row: ToolRow) {
		this.#context = context;
		this.#variant = context.choices.variant;
		this.#row = row;
		this.#call = createCall(
			() => this.#dropTrial(),
			(choice, byKey) => this.#choose(choice, byKey),
		);
		this.#trial = createTrial(context);
		this.#answer = createAnswer((action, byKey) => this.#act(action, byKey));
		const parts = [this.#head, this.#call, this.#trial, this.#answer].map((part) => part.element);
		// With a tab index, the keys work after a click anywhere on the card.
		const props = { role: "group", tabindex: -1, hidden: true, "aria-keyshortcuts": ANSWER_KEY };
		this.element = h("div", { class: "anb-card ask", ...props }, ...parts);
		this.#gate = createGate(context, {
			card: this.element,
			call: this.#call.element,
			answers: this.#answer.element,
			draft: () => this.#draft,
			draw: (still, isNew) => {
				if (isNew) this.#drawAnswer();
				this.#answer.setReady(still, this.#draft.seen);
			},
		});
		const { note } = this.#answer;
		note.oninput = () => {
			this.#draft.note = note.value;
		};
		this.element.onkeydown = (event) => this.#onKey(event);
	}

	update(row: ToolRow): void {
		this.#row = row;
		const asking = row.status === "asking";
		const hadFocus = !asking && hasFocus(this.element);
		this.element.hidden = !asking;
		if (hadFocus) moveFocus(this.element.parentElement?.querySelector("summary"));
		const question = asking ? askedAt(row) : 0;
		if (asking && this.#shown !== question) this.#ask();
		if (!asking && this.#shown) {
			this.#context.choices.drafts.delete(this.#key);
			this.#gate.unwatch();
		}
		this.#shown = question;
	}

	/** Draws what depends on other windows and questions: who may answer, and which questions are queued. */
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
		this.#call.offer(this.#mayAnswer);
		this.#head.offer(this.#mayAnswer, canEdit(this.#row), this.#draft.editing);
		if (choices.question !== this.#key) return;
		choices.question = null;
		scrollToCard(this.element, this.#call.element);
		moveFocus(this.element);
	};

	get #key(): string {
		return questionKey({ variant: this.#variant, row: this.#row });
	}

	get #mayAnswer(): boolean {
		return this.#context.choices.replay === null && this.#context.run.greeted;
	}

	get #position(): number {
		return this.#questions.findIndex((question) => questionKey(question) === this.#key);
	}

	#ask(): void {
		const { choices, announce } = this.#context;
		const row = this.#row;
		this.#draft = choices.drafts.get(this.#key) ?? new AnswerDraft();
		choices.drafts.set(this.#key, this.#draft);
		this.#answer.note.value = this.#draft.note;
		this.#setSent(false);
		this.#answer.setHint("");
		const title = printable(row.title);
		const [description] = printable(row.request?.description ?? "").split("\n\n", 1);
		const heading = isQuestion(row) ? "The model asks" : `Allow “${title}”?`;
		this.#head.ask(heading, description ? withCode(description) : subtitleOf(row));
		this.element.setAttribute("aria-label", heading);
		this.element.dataset.question = this.#key;
		this.#draw();
		if (!choices.replay) announce(isQuestion(row) ? `The model asks: ${title}` : `Approval needed: ${title}`);
		this.#gate.ask();
	}

	#showAll(): void {
		this.#gate.showAll();
		this.#drawAnswer();
		moveFocus(this.element);
	}

	#draw(): void {
		this.#call.draw(this.#row, this.#draft);
		// In the form's fields letters are text, not shortcuts.
		this.element.setAttribute(LETTERS, isTyped(this.#row, this.#draft) ? "Ctrl+Enter" : "y n e t");
		this.#drawAnswer();
		this.#context.redraw();
	}

	#drawAnswer(): void {
		this.#answer.update(this.#row, this.#draft, countAlike(this.#questions, this.#row));
		this.#trial.update(this.#mayAnswer && this.#row.request?.can_try === true, this.#draft.trial);
	}

	#onKey(event: KeyboardEvent): void {
		const typed = isTyped(this.#row, this.#draft);
		// Enter must not approve by accident: it denies with the note.
		const enter = isQuestion(this.#row) ? "approve" : "deny";
		const action = actionFor(event, this.#answer.note, { typed, enter });
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
		else if (action === "all") this.#showAll();
		else if (!this.#answer.offers(action)) return;
		else if (!this.#gate.passes(byKey, action === "deny")) return;
		else if (action === "try") this.#try();
		else this.#send(action);
	}

	/** Moves the focus from the fields to the card, or from the card to the transcript. It keeps the typed text. */
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
		this.#draft.form ??= createForm(this.#row.args ?? {}, schemaOf(this.#row), secretsOf(this.#row));
		this.#draft.editing = true;
		this.#draw();
		return this.#draft.form;
	}

	#undo(): void {
		this.#dropTrial();
		Object.assign(this.#draft, { ...new AnswerDraft(), note: this.#draft.note, seen: this.#draft.seen });
		this.#draw();
		moveFocus(this.element);
	}

	/** Runs the call in a copy of the kernel, or stops that. Nothing is approved by it. */
	#try(): void {
		const { args, problems, trial } = this.#draft;
		if (trial?.result === null) this.#command("try", { stop: true });
		else if (Object.keys(problems).length > 0) this.#edit();
		else {
			const next: Trial = { result: null };
			this.#showTrial(next);
			void this.#command("try", args ? { args } : {}).then((reply) => {
				if (this.#context.signal.aborted || this.#draft.trial !== next) return;
				const { outputs, problem } = reply as unknown as NonNullable<Trial["result"]>;
				this.#showTrial(reply.ok ? { result: { outputs, problem } } : null);
				if (!reply.ok) this.#report({ done: false, why: String(reply.error), ...reply });
			});
		}
	}

	/** Restarts the wait for a pointer, because the buttons may move. The keys stay: the call is the same. */
	#showTrial(trial: Trial | null): void {
		this.#draft.trial = trial;
		this.#answer.setHint("");
		this.#drawAnswer();
		this.#gate.moved();
	}

	/** Forgets the trial, because the call is another one now. */
	#dropTrial(): void {
		if (this.#draft.trial?.result === null) void this.#command("try", { stop: true });
		this.#draft.trial = null;
		this.#drawAnswer();
	}

	#choose(choice: string, byKey: boolean): void {
		this.#draft.note = this.#answer.note.value = choice;
		this.#act("approve", byKey);
	}

	#command(name: "approve" | "deny" | "try", fields: object): ReturnType<Context["run"]["command"]> {
		const { call_id } = this.#row;
		return this.#context.run.command(name, { variant: this.#variant, call_id, ...fields });
	}

	#send(action: Action): void {
		const { args, problems } = this.#draft;
		const note = this.#answer.note.value.trim();
		if (action !== "deny" && Object.keys(problems).length > 0) {
			this.#edit();
			return;
		}
		const deny = action === "deny";
		if (isQuestion(this.#row) && !deny && !note) {
			moveFocus(this.#answer.note);
			return;
		}
		const fields = {
			...((deny || note) && { note }),
			...(!deny && args && { args }),
			...(SCOPES.includes(action) && { scope: action }),
		};
		this.#setSent(true);
		const reply = this.#command(deny ? "deny" : "approve", fields);
		follow(this.#context, reply, STOP_HINT, (result) => this.#report(result));
	}

	#report(result: Outcome): void {
		this.#setSent(result.done);
		this.#answer.setHint(result.done ? "" : result.why);
		if (result.done || Object.keys(result.fields ?? {}).length === 0) return;
		const hadFocus = hasFocus(this.element);
		const form = this.#openForm();
		this.#answer.setHint(form.refuse(result.fields ?? {}).join(" "));
		if (hadFocus) form.focus();
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

function subtitleOf(row: ToolRow): Node[] {
	if (isQuestion(row)) return withCode("Your answer goes to the model. The clock is paused.");
	return [h("span", null, h("code", null, printable(row.name)), " asks before it runs.")];
}

/** The head of an approval card: the question, its position in the queue, and Edit. */
function createCardHead(edit: () => void, next: () => void) {
	const heading = h("h4");
	const sub = h("p", { class: "sub" });
	const count = h("span", { class: "num" });
	const other = h("button", { class: "anb-btn sm", "aria-label": "Next question", onclick: next }, "Next");
	const queue = h("span", { class: "anb-queue", hidden: true }, count, other);
	const label = h("span");
	const key = h("span", { class: "anb-kbd", "aria-hidden": "true" });
	const pencil = icon("edit");
	const button = h("button", { class: "anb-btn sm", onclick: edit }, pencil, label, key);
	const away = h("span", { class: "anb-reach" }, h("kbd", { class: "anb-kbd" }, ANSWER_KEY), " to answer");
	const acts = h("div", { class: "acts" }, away, queue, button);
	return {
		element: h("header", null, h("div", null, heading, sub), acts),
		ask(title: string, description: readonly Node[]) {
			heading.replaceChildren(...withCode(title));
			sub.replaceChildren(...description);
		},
		/** The position is 0-based. */
		setQueue(position: number, total: number) {
			queue.hidden = total < 2 || position < 0;
			setText(count, `${position + 1} of ${total}`);
		},
		offer(answers: boolean, editable: boolean, editing: boolean) {
			away.hidden = !answers;
			button.hidden = !answers || !editable;
			pencil.toggleAttribute("hidden", editing);
			setText(label, editing ? "Done" : "Edit");
			setText(key, editing ? "Esc" : "E");
			button.setAttribute("aria-keyshortcuts", editing ? "Escape" : "e");
		},
	};
}

/** `changed` is called after each change to a field, `choose` when a choice of a question is pressed. */
function createCall(changed: () => void, choose: (choice: string, byKey: boolean) => void) {
	const element = h("div", { class: "in" });
	const changes = createChanges();
	let choices: HTMLButtonElement[] = [];

	function drawQuestion({ args }: ToolRow): void {
		const texts = Array.isArray(args?.choices) ? args.choices.map(String) : [];
		choices = texts.map((text) => {
			const onclick = ({ detail }: MouseEvent): void => choose(text, detail === 0);
			return h("button", { class: "anb-btn choice", onclick }, printable(text));
		});
		element.replaceChildren(h("p", { class: "question" }, printable(String(args?.question))), ...choices);
	}

	function draw(row: ToolRow, draft: AnswerDraft): void {
		const { form, editing, args } = draft;
		const proposed = row.args ?? {};
		if (isQuestion(row)) drawQuestion(row);
		else if (form && editing) {
			form.onChange = (next, problems) => {
				Object.assign(draft, { args: next, problems });
				changes.update(proposed, next);
				changed();
			};
			changes.update(proposed, args);
			element.replaceChildren(form.element, changes.element);
		} else
			element.replaceChildren(...createArguments(proposed, args ?? proposed, schemaOf(row), secretsOf(row)));
	}

	function offer(answers: boolean): void {
		for (const choice of choices) choice.disabled = !answers;
	}

	return { element, draw, offer };
}

/** A fold with the differences from the proposal, while the user edits. */
function createChanges() {
	const label = h("span");
	const body = h("div");
	const summary = h("summary", null, icon("right", "chev"), label);
	const element = h("details", { class: "anb-args", ontoggle: draw }, summary, body);
	let [before, after] = [{}, {}];

	function draw(): void {
		const names = element.open ? changedNames(before, after) : [];
		body.replaceChildren(...names.map((name) => createChange(name, before, after)));
	}

	return {
		element,
		update(proposed: object, args: object | null) {
			[before, after] = [proposed, args ?? proposed];
			element.hidden = args === null;
			setText(label, `changed: ${changedNames(before, after).join(", ")}`);
			draw();
		},
	};
}
