// A question to the person: may this tool run? Its keys act only while the focus is in the card.

import { h, hasFocus, moveFocus, setText, withCode } from "../dom.ts";
import type { ToolRow } from "../state.ts";
import { type Context, follow } from "./context.ts";

export function createApproval(context: Context, callId: string) {
	const heading = h("h4");
	const sub = h("p", { class: "sub" });
	const fields = h("div", { class: "in" });
	const note = h("input", {
		class: "anb-word",
		type: "text",
		"aria-label": "A word to the model",
		placeholder: "A word to the model (optional)",
	});
	const approve = h(
		"button",
		{ class: "anb-btn primary", type: "button", "aria-keyshortcuts": "y" },
		"Approve",
		key("Y"),
	);
	const deny = h("button", { class: "anb-btn", type: "button", "aria-keyshortcuts": "n" }, "Deny", key("N"));
	const always = h(
		"button",
		{ class: "anb-btn ghost", type: "button", "aria-keyshortcuts": "Shift+Y" },
		"Always allow in this run",
		key("⇧Y"),
	);
	const hint = h("p", { class: "anb-note warn", role: "alert", hidden: true });
	const acts = h("div", { class: "anb-acts ask" }, note, approve, deny, always, hint);
	const element = h(
		"div",
		{ class: "anb-card ask", role: "group", hidden: true },
		h("header", null, h("div", null, heading, sub)),
		fields,
		acts,
	);
	const { signal } = context;
	let shown = false;
	let sent = false;
	const { variant } = context.choices;

	function answer(command: "approve" | "deny", extra: Record<string, unknown> = {}): void {
		if (sent || context.run.state?.owner === false || context.choices.replay) return;
		mark(true);
		const said = note.value.trim();
		const words = command === "deny" || said ? { note: said } : {};
		const reply = context.run.command(command, { variant, call_id: callId, ...words, ...extra });
		follow(context, reply, context.run.state?.meta.stop_hint ?? "", (result) => {
			mark(result.done);
			hint.hidden = result.done;
			if (!result.done) setText(hint, result.why);
		});
	}

	function mark(on: boolean): void {
		sent = on;
		acts.classList.toggle("sent", on);
	}

	approve.addEventListener("click", () => answer("approve"), { signal });
	deny.addEventListener("click", () => answer("deny"), { signal });
	always.addEventListener("click", () => answer("approve", { always: true }), { signal });
	element.addEventListener(
		"keydown",
		(event) => {
			if (event.target === note || event.ctrlKey || event.metaKey || event.altKey) return;
			const pressed = event.key.toLowerCase();
			if (pressed === "y") answer("approve", event.shiftKey ? { always: true } : {});
			else if (pressed === "n") answer("deny");
			else return;
			event.preventDefault();
			event.stopPropagation();
		},
		{ signal },
	);

	/** Another page may turn out to hold the buttons while the question stands. */
	function offer(): void {
		acts.hidden = context.run.state?.owner === false || context.choices.replay !== null;
	}

	return {
		element,
		offer,
		update(row: ToolRow) {
			const asking = row.status === "asking";
			const held = !asking && hasFocus(element);
			element.hidden = !asking;
			if (held) moveFocus(element.parentElement?.querySelector("summary"));
			if (!asking || shown) {
				shown = asking;
				return;
			}
			shown = true;
			const title = visible(row.title);
			heading.replaceChildren(...withCode(`Allow “${title}”?`));
			sub.replaceChildren(h("code", null, visible(row.name)), " asks before it runs.");
			fields.replaceChildren(...fieldsOf(row));
			offer();
			element.setAttribute("aria-label", `Allow ${title}?`);
			if (!context.choices.replay) context.announce(`Approval needed: ${title}`);
			// Into view, but never the focus: the person may be typing elsewhere.
			requestAnimationFrame(() => {
				if (!element.isConnected) return;
				element.scrollIntoView?.({ block: "nearest" });
				// Of a card taller than its pane, the beginning.
				fields.firstElementChild?.scrollIntoView?.({ block: "nearest" });
			});
		},
	};
}

/** Arguments wrap and never scroll sideways: nothing to approve is out of sight. */
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

/** Marks that turn the direction of writing are written out: what is approved reads in the order in which it runs. */
function visible(text: string): string {
	return text.replace(
		/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
		(mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
}

function key(label: string): HTMLElement {
	return h("span", { class: "anb-kbd", "aria-hidden": "true" }, label);
}
