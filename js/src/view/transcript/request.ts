// The request of a turn, laid over the transcript and the result.

import { copyText } from "../../clipboard.ts";
import { h, listen, setText } from "../../dom.ts";
import type { Json } from "../../events.ts";
import { type Context, follow, type Outcome, type Snapshot } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";
import { type ModelRequest, sectionsOf } from "./request-parts.ts";

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
		update({ run }: Snapshot) {
			const { request: turn, variant } = choices;
			const key = turn === null ? "" : `${run.id} ${variant} ${turn}`;
			if (key === shown) return;
			const opened = shown === "";
			if (opened) opener = (element.getRootNode() as ShadowRoot).activeElement as HTMLElement | null;
			shown = key;
			element.hidden = turn === null;
			// What it covers must not be within reach of the keyboard.
			element.parentElement?.querySelector(".anb-place")?.toggleAttribute("inert", turn !== null);
			if (turn === null) return;
			setText(title, `Turn ${turn}: what was sent to the model`);
			body.load(variant, turn);
			if (opened) close.focus({ preventScroll: true });
		},
	};
}

/** The request itself, which is fetched from the kernel, and the button that copies it. */
function createBody(context: Context) {
	const element = h("div", { class: "in" });
	const copy = iconButton(context, "copy", "Copy as JSON", () => copyText(context, json));
	let json = "";
	let asked = 0;

	return {
		element,
		copy,
		load(variant: number, turn: number) {
			const mine = ++asked;
			copy.hidden = true;
			element.replaceChildren(h("p", { class: "anb-note" }, "Loading the request from the kernel."));
			const reply = context.run.command("request", { variant, step: turn });
			const report = async (result: Outcome): Promise<void> => {
				const { id, kind, ok, known, ...request } = result.done ? ((await reply) as unknown as Json) : {};
				// Another request may have been opened meanwhile.
				if (mine !== asked) return;
				json = JSON.stringify(request, null, 2);
				copy.hidden = !result.done;
				element.replaceChildren(
					...(result.done
						? sectionsOf(request as unknown as ModelRequest, Number(known ?? 0), json)
						: [h("p", { class: "anb-note warn", role: "alert" }, result.why)]),
				);
			};
			follow(context, reply, NO_ANSWER, (result) => void report(result), ANSWER_WITHIN);
		},
	};
}
