// Apply: a card with all code of a run in a branch, which the user lets run in the session, and then what it set.

import { h, moveFocus, setChildren, setLabel, withCode } from "../base/dom.ts";
import { printable } from "../base/printable.ts";
import {
	type Context,
	type FeatureView,
	type NamesPart,
	openVariant,
	shownOf,
	type VariantPart,
} from "../view/context.ts";
import { textButton } from "../view/shared/buttons.ts";
import { createArguments, showAllLabel } from "../view/transcript/arguments.ts";
import { createGate, drawGated } from "../view/transcript/gate.ts";

/** The kernel's answer: what the card shows. */
interface Offer {
	readonly code: string;
	/** What `•••` stands for in the code. */
	readonly secrets: readonly string[];
	/** Why the code should not run now; empty otherwise. */
	readonly problem: string;
	readonly question: string;
	readonly applied: boolean;
}

const TITLE = "Apply this code to your session?";
const ABOUT =
	"It ran in a branch. Here it changes your variables, and what it does to files and over the network, it does again.";

/** Whether the kernel has the variant's run and its branch, so that the code can be applied here. */
function canApply({ choices, run }: Context, variant: number): boolean {
	const { state } = run;
	const isLive = run.greeted && !state?.lost && !choices.replay && !run.notebook?.model.readOnly;
	return isLive && state !== null && shownOf(state, "branch", variant)?.applies === true;
}

/** The button, and a place for the card and the outcome. Both are empty unless the code can be applied. */
function createApply(context: Context): NamesPart {
	const { choices } = context;
	const { variant } = choices;
	const inRow = h("span");
	const dialog = createDialog(context, () => moveFocus(button));
	const props = { class: "anb-btn sm", title: "Run the code in your session", onclick: dialog.ask };
	const button = h("button", props, "Apply");
	return {
		inRow,
		below: dialog.element,
		update(): void {
			const isOffered = canApply(context, variant);
			setChildren(inRow, isOffered, () => (isOffered ? [button] : []));
			if (!isOffered) dialog.show();
			else if (choices.apply === variant) {
				choices.apply = null;
				void dialog.ask();
			}
		},
	};
}

/** Opens the card that applies the code of the picked variant. */
function createApplyPicked(context: Context): VariantPart {
	const element = h("button", { class: "anb-btn sm", onclick: press }, "Apply");
	let number = 0;

	function press(): void {
		Object.assign(context.choices, { apply: number, alone: false });
		openVariant(context, number);
	}

	return {
		element,
		update(variant, { run: { ready } }) {
			number = variant.number;
			element.hidden = !ready?.picked || ready.variant !== number || !canApply(context, number);
			setLabel(element, `Apply ${variant.label}`, "Show its code, to run it in your session");
		},
	};
}

export const branch: FeatureView = { names: createApply, action: createApplyPicked, hasResult: canApply };

/** Shows the card, then the outcome in its place. `cancelled` is called after Cancel. */
function createDialog(context: Context, cancelled: () => void) {
	const { choices, run, signal } = context;
	const { variant } = choices;
	const element = h("div");
	let close = (): void => {};

	async function ask(): Promise<void> {
		const reply = await run.command("apply", { variant });
		if (signal.aborted || !canApply(context, variant)) return;
		if (!reply.ok) return show(createOutcome(String(reply.error)));
		const card = createCard(context, reply as unknown as Offer, { apply, undo, cancel });
		show(card.element);
		close = card.close;
		card.ask();
	}

	async function apply(question: string): Promise<void> {
		const reply = await run.command("apply", { variant, question });
		if (reply.ok) return show(createOutcome(String(reply.text), textButton("Undo", undo)));
		context.notify(String(reply.error));
		void ask();
	}

	async function undo(): Promise<void> {
		const reply = await run.command("unapply", { variant });
		show(createOutcome(String(reply.ok ? reply.text : reply.error)));
	}

	function cancel(): void {
		show();
		cancelled();
	}

	function show(...content: HTMLElement[]): void {
		close();
		element.replaceChildren(...content);
	}

	return { element, ask, show };
}

function createOutcome(text: string, ...buttons: HTMLElement[]): HTMLElement {
	const status = h("span", { role: "status" }, ...withCode(printable(text)));
	return h("div", { class: "anb-names left" }, status, ...buttons);
}

interface Answers {
	apply(question: string): Promise<void>;
	undo(): Promise<void>;
	cancel(): void;
}

function createCard(context: Context, offer: Offer, answers: Answers) {
	const { code, secrets, problem, question, applied } = offer;
	const call = h("div", { class: "in" }, ...createArguments({ code }, { code }, {}, secrets));
	const apply = textButton(problem ? "Apply anyway" : "Apply", press, "primary");
	const all = textButton(showAllLabel({ code }), showAll, "ghost");
	const undo = textButton("Undo", () => send(answers.undo), "");
	const warning = h("p", { class: "anb-note warn", hidden: !problem }, ...withCode(printable(problem)));
	const buttons = [all, apply, ...(applied ? [undo] : []), textButton("Cancel", answers.cancel, "")];
	const acts = h("div", { class: "anb-acts ask" }, warning, ...buttons);
	const head = h("header", null, h("div", null, h("h4", null, TITLE), h("p", { class: "sub" }, ABOUT)));
	const attributes = { class: "anb-card ask", role: "group", "aria-label": TITLE, tabindex: -1 };
	const element = h("div", attributes, head, call, acts);
	const draft = { seen: false };
	const gate = createGate(context, { card: element, call, answers: acts, draft: () => draft, draw });

	function draw(still: boolean): void {
		all.hidden = draft.seen;
		acts.classList.toggle("waits", !still);
		drawGated(apply, still, draft.seen);
	}

	function showAll(): void {
		gate.showAll();
		gate.check();
	}

	function press({ detail }: MouseEvent): void {
		// Enter or Space on a button is a click with a detail of 0.
		if (gate.passes(detail === 0)) send(() => answers.apply(question));
	}

	function send(answer: () => Promise<void>): void {
		if (acts.matches(".sent")) return;
		acts.classList.add("sent");
		void answer();
	}

	return {
		element,
		close: gate.unwatch,
		ask(): void {
			gate.ask();
			moveFocus(element);
		},
	};
}
