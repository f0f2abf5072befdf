// Shows one variant, or an arrangement of all of them. Hidden arrangements are not built.

import { createKeyedList, h, hasFocus, moveFocus, setAttribute, setText, withCode } from "../../base/dom.ts";
import type { VariantState } from "../../run/state.ts";
import { askingTitle, type Variant } from "../../run/variants.ts";
import { type Arrangement, choicesFor, resetVariant } from "../choices.ts";
import { type BodyView, type Context, openVariant, type Snapshot, viewsIn } from "../context.ts";
import { createPreview } from "../result/preview.ts";
import { createSight, type Sight } from "../shared/on-screen.ts";
import { hasResult } from "../shown.ts";
import { createSingle } from "./single-variant.ts";
import {
	createBoundMark,
	createContinue,
	createPick,
	createStanding,
	createStopOrOpen,
	factsOf,
} from "./variant-parts.ts";

/** `below` is the place of a folded transcript. */
export function createPlace(context: Context): BodyView & { readonly below: HTMLElement } {
	const element = h("div", { class: "anb-place" });
	const below = h("div", { class: "anb-below" });
	const { choices } = context;
	let drawn = "";
	let body: BodyView | null = null;
	let life = new AbortController();
	context.signal.addEventListener("abort", () => life.abort());

	function fill(arrangement: Arrangement): BodyView {
		life.abort();
		life = new AbortController();
		if (drawn) resetVariant(choices);
		const bodyContext = { ...context, signal: life.signal };
		below.replaceChildren();
		const built =
			arrangement === "one" ? createSingle(bodyContext, below) : createAll(bodyContext, arrangement);
		const hadFocus = hasFocus(element);
		element.replaceChildren(built.element);
		const tab = '.anb-vars [role="tab"][tabindex="0"]';
		if (hadFocus) moveFocus(element.parentElement?.querySelector<HTMLElement>(tab));
		return built;
	}

	return {
		element,
		below,
		update(snapshot) {
			const many = snapshot.variants.length > 1;
			const arrangement = many ? choices.arrangement : "one";
			const key = arrangement === "one" ? `${arrangement} ${choices.variant}` : arrangement;
			if (!body || key !== drawn) body = fill(arrangement);
			drawn = key;
			if (many) labelPanel(body.element, arrangement, snapshot.variants[choices.variant]?.label ?? "");
			body.update(snapshot);
		},
		tick: (snapshot) => body?.tick(snapshot),
	};
}

function labelPanel(element: HTMLElement, arrangement: Arrangement, label: string): void {
	element.setAttribute("role", arrangement === "one" ? "tabpanel" : "group");
	element.setAttribute("aria-label", arrangement === "one" ? label : "All variants");
}

const VIEWS = { grid: createCell, side: createColumn };

/** All variants: a grid, or side by side. */
function createAll(context: Context, arrangement: Exclude<Arrangement, "one">): BodyView {
	const tabindex = arrangement === "side" ? 0 : null;
	const element = h("div", { class: `anb-${arrangement}`, tabindex });
	const shared: Shared = { sight: createSight(context.redraw, context.signal), pages: new Map() };
	const updateList = createKeyedList<Drawn>(
		element,
		({ variant }) => String(variant.number),
		({ variant }) => VIEWS[arrangement](context, shared, variant.number),
	);
	function update(snapshot: Snapshot): void {
		element.dataset.count = String(snapshot.variants.length);
		updateList(snapshot.variants.map((variant) => ({ variant, snapshot })));
	}
	return { element, update, tick: update };
}

export interface Drawn {
	readonly variant: Variant;
	readonly snapshot: Snapshot;
}

/** State shared by the variants of an arrangement. */
export interface Shared {
	readonly sight: Sight;
	readonly pages: Map<number, { scrollToShare(share: number): void }>;
}

/** The common parts of a grid cell and a side-by-side column. */
export function createSummary(context: Context, number: number) {
	const variantContext: Context = { ...context, choices: choicesFor(context.choices, number) };
	const name = h("b", null, `Variant ${number + 1}`);
	const model = h("span");
	const facts = h("span");
	const parts = {
		boundMark: createBoundMark(),
		standing: createStanding(),
		more: createContinue(context),
		pick: createPick(context),
		swap: createStopOrOpen(context, variantContext),
		answer: createAnswer(context, number),
	};
	const actions = viewsIn(context, "action").map((create) => create(context));
	return {
		...parts,
		actions: actions.map((part) => part.element),
		variantContext,
		name,
		model,
		facts,
		update(variant: Variant, snapshot: Snapshot) {
			setText(model, variant.model);
			setAttribute(model, "title", variant.state.model);
			setText(facts, factsOf(variant));
			for (const part of [...actions, ...Object.values(parts)]) part.update(variant, snapshot);
			parts.pick.element.hidden ||= !parts.answer.element.hidden;
		},
	};
}

/** Opens a variant with a question, so that it is answered where it can be read in full. */
function createAnswer(context: Context, number: number) {
	const onclick = (): void => openVariant(context, number);
	const element = h("button", { class: "anb-btn sm primary anb-answer", onclick }, "Answer");
	return {
		element,
		update(variant: Variant) {
			const title = askingTitle(variant.state);
			element.hidden = title === null;
			if (title !== null) setAttribute(element, "aria-label", `Answer ${variant.label}: ${title}`);
		},
	};
}

/** A preview without a console, redrawn only if its content has changed. */
export function createQuietPreview(
	variantContext: Context,
	thumbnail: number,
	onScrolled?: (share: number) => void,
) {
	const preview = createPreview(variantContext, { thumbnail, ...(onScrolled && { onScrolled }) });
	let drawn: { state: VariantState; loads: number; file: string | null } | null = null;
	return {
		element: preview.element,
		scrollToShare: preview.scrollToShare,
		update(state: VariantState) {
			const { loads } = variantContext.run;
			const { file } = variantContext.choices;
			if (drawn?.state === state && drawn.loads === loads && drawn.file === file) return;
			preview.update({ state });
			drawn = { state, loads, file };
		},
		rest() {
			drawn = null;
			preview.rest();
		},
	};
}

/** Layout width in pixels; in a narrower column, the page is scaled down. */
const COLUMN_WIDTH = 640;

/** A column of the side-by-side view: a variant, scaled down to share the width. All columns scroll together. */
function createColumn(context: Context, { sight, pages }: Shared, number: number) {
	const summary = createSummary(context, number);
	const { variantContext, name, model, boundMark, standing, facts, swap, answer, actions, more, pick } =
		summary;
	const preview = createQuietPreview(variantContext, COLUMN_WIDTH, (share) => {
		// A page that forges this can only scroll.
		for (const [other, page] of pages) if (other !== number) page.scrollToShare(share);
	});
	pages.set(number, preview);
	const lines = [h("div", null, name, model, boundMark.element), h("div", null, standing.element, facts)];
	const who = h("div", { class: "who" }, ...lines);
	const head = h("header", null, who, swap.element, answer.element, ...actions, more.element, pick.element);
	const why = h("p", { class: "why", hidden: true });
	const element = h("div", { class: "anb-col", role: "group" }, head, why, preview.element);
	model.className = "mut model";
	facts.className = "num mut";
	sight.watch(preview.element);

	return {
		element,
		update({ variant, snapshot }: Drawn) {
			const { error } = variant.state;
			summary.update(variant, snapshot);
			setAttribute(element, "aria-label", variant.label);
			why.hidden = error === null;
			if (error !== null && why.textContent === "") why.replaceChildren(...withCode(error));
			if (sight.has(preview.element)) preview.update(variant.state);
			else preview.rest();
		},
	};
}

/** Layout width in pixels: pages are laid out for a desktop and scaled down to the cell. */
const CELL_WIDTH = 1024;
/** Maximum characters of the newest text in a cell, which fits two lines. */
const LONGEST_TEXT = 400;

/** A cell of the grid: a variant, small and live, with its phase, its cost, and buttons to stop, pick and open it. */
function createCell(context: Context, { sight }: Shared, number: number) {
	const summary = createSummary(context, number);
	const { variantContext, name, boundMark, standing, model, facts, answer, actions, more, pick, swap } =
		summary;
	const preview = createQuietPreview(variantContext, CELL_WIDTH);
	const open = h("button", { class: "open", onclick: () => openVariant(context, number) });
	const shot = h("div", { class: "shot" }, h("div", { class: "page", inert: true }, preview.element), open);
	const text = createLastText();
	const lines = viewsIn(context, "cell").map((create) => create(context));
	const body = h(
		"div",
		{ class: "bd" },
		h("div", { class: "line" }, name, boundMark.element, standing.element),
		h("div", { class: "line facts" }, model, facts),
		h("div", null, text.element, ...lines.map((part) => part.element)),
		h("div", { class: "line acts" }, answer.element, ...actions, more.element, pick.element, swap.element),
	);
	const element = h("div", { class: "anb-variant", role: "group" }, shot, body);
	model.className = "anb-badge model";
	facts.className = "num";
	sight.watch(shot);

	return {
		element,
		update({ variant, snapshot }: Drawn) {
			const { ready } = snapshot.run;
			summary.update(variant, snapshot);
			text.update(variant.state);
			for (const part of lines) part.update(variant, snapshot);
			model.hidden = variant.model === "";
			// Answers to a question about data have no page, and eight drawings of one would hide them.
			shot.hidden = snapshot.variants.every(({ state }) => !state.busy && !hasResult(state));
			setAttribute(element, "aria-label", variant.label);
			setAttribute(open, "aria-label", `Open ${variant.label}`);
			element.classList.toggle("picked", ready?.picked === true && ready.variant === number);
			if (sight.has(shot)) preview.update(variant.state);
			else preview.rest();
		},
	};
}

/** Why the variant failed, or the beginning of its last text. */
function createLastText() {
	const element = h("p", { class: "say" });
	let drawn = "";
	return {
		element,
		update(state: VariantState) {
			const text = state.error || lastText(state);
			if (text !== drawn) element.replaceChildren(...withCode(text));
			drawn = text;
			element.classList.toggle("err", state.error !== null);
			setAttribute(element, "title", text || null);
		},
	};
}

function lastText({ rows }: VariantState): string {
	const texts = rows.map((row) => (row.kind === "text" ? row.text : ""));
	return beginningOf(texts.findLast(beginningOf) ?? "");
}

function beginningOf(text: string): string {
	return text
		.slice(0, LONGEST_TEXT)
		.replace(/\*\*|^[#>\s]+/gm, "")
		.trim();
}
