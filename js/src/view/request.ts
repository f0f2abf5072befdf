// What a turn was sent, laid over the transcript and the result.

import { copyText } from "../actions.ts";
import { h, listen, setText } from "../dom.ts";
import type { Json } from "../events.ts";
import type { RunEntry } from "../store.ts";
import { iconButton } from "./buttons.ts";
import { type Context, type Moment, outcome } from "./context.ts";
import { type ModelRequest, sectionsOf } from "./requestparts.ts";

const ANSWER_WITHIN = 5000;
const NO_ANSWER = "The kernel did not answer. Try again when it is idle.";

export function createRequest(context: Context) {
	const { choices, signal } = context;
	const title = h("h4");
	const body = createBody(context);
	const close = iconButton(context, "cross", "Close", () => leave());
	const element = h(
		"section",
		{ class: "anb-request", "aria-label": "Request", hidden: true },
		h("header", null, title, h("span", { class: "sp" }), body.copy, close),
		body.element,
	);
	let shown = "";
	let opener: HTMLElement | null = null;

	function leave(): void {
		choices.request = null;
		context.redraw();
		opener?.focus();
	}
	listen(element, "keydown", signal, (event) => {
		if (event.key !== "Escape") return;
		event.stopPropagation();
		leave();
	});

	return {
		element,
		update({ run }: Moment) {
			const { request: step, variant } = choices;
			const key = step === null ? "" : `${run.session} ${variant} ${step}`;
			if (key === shown) return;
			const opened = shown === "";
			if (opened) opener = (element.getRootNode() as ShadowRoot).activeElement as HTMLElement | null;
			shown = key;
			element.hidden = step === null;
			// It lies over them: what cannot be seen must not be reached.
			element.parentElement?.querySelector(".anb-place")?.toggleAttribute("inert", step !== null);
			if (step === null) return;
			setText(title, `Turn ${step}: what the model was sent`);
			void body.load(variant, step);
			if (opened) close.focus({ preventScroll: true });
		},
	};
}

/** The request itself, which the kernel is asked for, and the button that copies it. */
function createBody(context: Context) {
	const element = h("div", { class: "in" });
	const copy = iconButton(context, "copy", "Copy as JSON", () => copyText(context, json));
	let json = "";
	let asked = 0;

	return {
		element,
		copy,
		async load(variant: number, step: number) {
			const mine = ++asked;
			copy.hidden = true;
			element.replaceChildren(h("p", { class: "anb-note" }, "Asking the kernel."));
			const answer = await ask(context.run, variant, step);
			// Meanwhile another request may have been opened.
			if (mine !== asked || context.signal.aborted) return;
			if ("why" in answer) {
				element.replaceChildren(h("p", { class: "anb-note warn", role: "alert" }, answer.why));
				return;
			}
			json = JSON.stringify(answer.request, null, 2);
			copy.hidden = false;
			element.replaceChildren(...sectionsOf(answer.request, answer.known, json));
		},
	};
}

type Answer = { request: ModelRequest; known: number } | { why: string };

async function ask(run: RunEntry, variant: number, step: number): Promise<Answer> {
	const reply = run.command("request", { variant, step });
	const result = await outcome(reply, NO_ANSWER, ANSWER_WITHIN);
	if (!result.done) return result;
	const { id, kind, ok, known, ...request } = (await reply) as unknown as ModelRequest & Json;
	return { request: request as ModelRequest, known: Number(known ?? 0) };
}
