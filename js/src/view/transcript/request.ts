// The request of a turn, laid over the transcript and the result.

import { copyText } from "../../base/clipboard.ts";
import { type Child, h, icon, setText } from "../../base/dom.ts";
import { plural } from "../../base/format.ts";
import type { Json } from "../../run/events.ts";
import { type Context, follow, type Outcome, type Snapshot } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";

const ANSWER_WITHIN = 5000;
const NO_ANSWER = "The kernel did not answer. Try again when it is idle.";

export function createRequest(context: Context) {
	const { choices } = context;
	const title = h("h4");
	const body = createBody(context);
	const close = iconButton("cross", "Close", () => leave());
	const element = h(
		"section",
		{ class: "anb-request", "aria-label": "Request", hidden: true },
		h("header", null, title, h("span", { class: "sp" }), body.copy, close),
		body.element,
	);
	let openKey = "";
	let opener: HTMLElement | null = null;

	function leave(): void {
		choices.request = null;
		context.redraw();
		opener?.focus();
	}
	element.onkeydown = (event) => {
		if (event.key !== "Escape") return;
		event.stopPropagation();
		leave();
	};

	return {
		element,
		update({ run }: Snapshot) {
			const { request: turn, variant } = choices;
			const key = turn === null ? "" : `${run.id} ${variant} ${turn}`;
			if (key === openKey) return;
			const opened = openKey === "";
			if (opened) opener = (element.getRootNode() as ShadowRoot).activeElement as HTMLElement | null;
			openKey = key;
			element.hidden = turn === null;
			// The covered content must not be reachable by keyboard.
			element.parentElement?.querySelector(".anb-place")?.toggleAttribute("inert", turn !== null);
			if (turn === null) return;
			setText(title, `Turn ${turn}: what was sent to the model`);
			body.load(variant, turn);
			if (opened) close.focus({ preventScroll: true });
		},
	};
}

/** The request, fetched from the kernel, and the button that copies it. */
function createBody(context: Context) {
	const element = h("div", { class: "in" });
	const copy = iconButton("copy", "Copy as JSON", () => copyText(context, json));
	let json = "";
	let latest = 0;

	return {
		element,
		copy,
		load(variant: number, turn: number) {
			const current = ++latest;
			copy.hidden = true;
			element.replaceChildren(h("p", { class: "anb-note" }, "Loading the request from the kernel."));
			const reply = context.run.command("request", { variant, step: turn });
			const report = async (result: Outcome): Promise<void> => {
				const { id, kind, ok, known, ...request } = result.done ? ((await reply) as unknown as Json) : {};
				// Another request may have been opened in the meantime.
				if (current !== latest) return;
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

const COMPACTED = "The conversation was compacted for this turn:";
const LONGEST_LINE = 120;
const LONG = 600;
const MANY_LINES = 15;

interface Part extends Json {
	type: string;
}

interface ModelRequest {
	model: string;
	system: string;
	messages: { role: string; parts: Part[]; vendor?: Record<string, string> }[];
	tools: { name: string; description: string; schema: Json }[];
	settings: Json;
	/** Set if the conversation was compacted for this turn. */
	compacted?: { detail: string };
}

/** The first `known` messages were already in the previous request. */
export function sectionsOf(request: ModelRequest, known: number, json: string): HTMLElement[] {
	const { model } = request;
	const messages = request.messages.map((message, index) => messageOf(message, index >= known));
	const fresh = request.messages.length - known;
	const news = known > 0 && fresh > 0 ? `, ${fresh} new` : "";
	return [
		...(request.compacted
			? [h("p", { class: "anb-note" }, `${COMPACTED} ${request.compacted.detail}.`)]
			: []),
		section("System text", size(request.system), false, text(request.system)),
		section("Messages", `${request.messages.length}${news}`, true, ...messages),
		section("Tools", String(request.tools.length), false, ...request.tools.map(toolOf)),
		section("Model and settings", model, false, text(pretty({ model, ...request.settings }))),
		lazy("Everything as JSON", size(json), () => text(json)),
	];
}

function fold(look: string, open: boolean, title: Child[], content: Child[]): HTMLElement {
	const summary = h("summary", null, icon("right", "chev"), ...title);
	return h("details", { class: look, open }, summary, h("div", { class: "in" }, ...content));
}

function section(label: string, fact: string, open: boolean, ...children: Node[]): HTMLElement {
	return fold("anb-part", open, [h("b", null, label), h("small", null, fact)], children);
}

/** A section whose content is created when it is first opened. */
function lazy(label: string, fact: string, make: () => Node): HTMLElement {
	const element = section(label, fact, false);
	element.addEventListener("toggle", () => element.lastElementChild?.append(make()), { once: true });
	return element;
}

function messageOf({ role, parts, vendor }: ModelRequest["messages"][number], fresh: boolean): HTMLElement {
	const notes = Object.entries(vendor ?? {}).map(([name, note]) => `Only for ${name}: ${note}.`);
	const line = h("span", { class: "line" }, firstLine(parts));
	const title = [h("b", null, role), line, fresh && h("small", { class: "new" }, "new")];
	const content = [...parts.flatMap(partOf), ...notes.map((note) => h("p", { class: "sub" }, note))];
	return fold(`anb-message ${role}`, fresh, title, content);
}

function firstLine(parts: readonly Part[]): string {
	const [first] = parts;
	if (!first) return "nothing";
	const isTool = first.type === "tool_call" || first.type === "tool_result";
	const text = isTool ? labelOf(first) : first.text;
	const more = parts.length > 1 ? `, and ${plural(parts.length - 1, "more part")}` : "";
	return (
		String(text ?? labelOf(first))
			.slice(0, LONGEST_LINE)
			.replace(/\s+/g, " ") + more
	);
}

function labelOf(part: Part): string {
	switch (part.type) {
		case "tool_call":
			return `calls ${part.name}`;
		case "tool_result":
			return `result of ${part.name}${part.code ? ` (${part.code})` : ""}`;
		case "image":
		case "document":
			return `${part.type} ${part.name || ""}`.trim();
		default:
			return part.type;
	}
}

function partOf(part: Part): Node[] {
	const label = part.type === "text" ? [] : [h("p", { class: "sub" }, labelOf(part))];
	const images = (part.images as Part[] | undefined) ?? [];
	return [...label, text(contentOf(part)), ...images.flatMap(partOf)];
}

function contentOf(part: Part): string {
	switch (part.type) {
		case "text":
		case "thinking":
		case "tool_result":
			return String(part.text);
		case "tool_call":
			return readable(String(part.arguments));
		case "image":
		case "document":
			return String(part.data);
		default:
			return pretty(part);
	}
}

function toolOf({ name, description, schema }: ModelRequest["tools"][number]): HTMLElement {
	const line = h("span", { class: "line" }, description.split("\n")[0]);
	return fold("anb-message", false, [h("code", null, name), line], [text(description), text(pretty(schema))]);
}

/** Long text scrolls, so it must be reachable by keyboard. */
function text(content: string): HTMLElement {
	const long = content.length > LONG || content.split("\n").length > MANY_LINES;
	return h("pre", long ? { tabindex: 0 } : null, content);
}

function pretty(value: unknown): string {
	return JSON.stringify(value, null, 2);
}

/** Arguments as the model wrote them, indented if they are JSON. */
function readable(argumentsText: string): string {
	try {
		return pretty(JSON.parse(argumentsText));
	} catch {
		return argumentsText;
	}
}

function size(content: string): string {
	return content === "" ? "none" : plural(content.length, "character");
}
