// The strip above several variants: a tab for each, and the choice of how to arrange them.

import { createKeyedList, h, setAttribute, setText, type View } from "../../base/dom.ts";
import type { IconName } from "../../base/icons.ts";
import { askingTitle, type Variant } from "../../run/variants.ts";
import { type Arrangement, saveLayout } from "../choices.ts";
import { type Context, openVariant, type Snapshot, viewsIn } from "../context.ts";
import { createRadios, rove } from "../shared/buttons.ts";
import { phaseNow } from "../shared/status.ts";
import { createBoundMark, createMark, createPick, createStopOrOpen, factsOf } from "./variant-parts.ts";

interface TabItem {
	variant: Variant;
	snapshot: Snapshot;
	on: boolean;
	/** Whether it is a tab stop. */
	stop: boolean;
}

/** With more tabs than this, a narrow frame shows only their numbers. */
const MANY = 4;
const ARRANGEMENTS: readonly [Arrangement, IconName, string][] = [
	["one", "tabs", "One at a time"],
	["grid", "grid", "Grid"],
	["side", "side", "Side by side"],
];

export function createStrip(context: Context) {
	const { choices } = context;
	const tabs = createTabs(context);
	const chosen = createChosen(context);
	const arrangements = createArrangements(context);
	const parts = [tabs.element, h("span", { class: "sp" }), chosen.element, arrangements.element];
	const element = h("div", { class: "anb-bar anb-vars", hidden: true }, ...parts);
	const announceQuestions = createQuestions(context);

	return {
		element,
		update(snapshot: Snapshot) {
			const { variants, run } = snapshot;
			element.hidden = variants.length < 2;
			if (element.hidden) return;
			if (choices.arrangement !== "one") choices.variant = run.ready?.variant ?? choices.variant;
			element.classList.toggle("many", variants.length > MANY);
			tabs.update(snapshot);
			chosen.update(snapshot);
			arrangements.update();
			announceQuestions(variants);
		},
	};
}

function createTabs(context: Context) {
	const { choices } = context;
	const onkeydown = (event: KeyboardEvent): void =>
		rove(event, numbers, choices.variant, (number) => {
			openVariant(context, number);
			element.querySelectorAll<HTMLElement>("[role=tab]")[number]?.focus();
		});
	const element = h("div", { class: "anb-tabs", role: "tablist", "aria-label": "Variants", onkeydown });
	const updateTabs = createKeyedList<TabItem>(
		element,
		({ variant }) => String(variant.number),
		() => createTab((number) => openVariant(context, number)),
	);
	let numbers: number[] = [];

	return {
		element,
		update(snapshot: Snapshot) {
			const alone = choices.arrangement === "one";
			numbers = snapshot.variants.map(({ number }) => number);
			updateTabs(
				snapshot.variants.map((variant) => {
					const stop = variant.number === choices.variant;
					return { variant, snapshot, on: stop && alone, stop };
				}),
			);
			if (alone) keepInSight(element, choices.variant);
		},
	};
}

/** The figures of the single visible variant, and the buttons to stop, open and pick it. */
function createChosen(context: Context) {
	const { choices } = context;
	const facts = h("span", { class: "num mut" });
	const actions = viewsIn(context, "action").map((create) => create(context));
	const parts = [createStopOrOpen(context, context), ...actions, createPick(context)];
	const element = h("span", { class: "anb-chosen" }, facts, ...parts.map((part) => part.element));
	return {
		element,
		update(snapshot: Snapshot) {
			const variant = snapshot.variants[choices.variant];
			element.hidden = choices.arrangement !== "one" || !variant;
			if (!variant) return;
			setText(facts, variant.state.busy ? phaseNow(variant).text : factsOf(variant));
			for (const part of parts) part.update(variant, snapshot);
		},
	};
}

/** Scrolls only the strip: `scrollIntoView` would also scroll the notebook. */
function keepInSight(strip: HTMLElement, number: number): void {
	if (strip.dataset.shown === String(number)) return;
	strip.dataset.shown = String(number);
	const tab = strip.children[number] as HTMLElement | undefined;
	if (!tab) return;
	const from = tab.offsetLeft - strip.offsetLeft;
	const most = from + tab.offsetWidth - strip.clientWidth;
	strip.scrollLeft = Math.max(most, Math.min(strip.scrollLeft, from));
}

function createTab(choose: (number: number) => void): View<TabItem> {
	const mark = createMark();
	const label = h("span");
	const prefix = h("span", { class: "prefix" }, "Variant ");
	const model = h("span", { class: "mut model" });
	const asks = h("span", { class: "anb-asks", hidden: true }, "asks");
	const boundMark = createBoundMark();
	const status = h("span", { class: "anb-sr" });
	const parts = [mark.element, h("span", null, prefix, label), model, asks, boundMark.element, status];
	const element = h("button", { class: "anb-tab", role: "tab" }, ...parts);
	let number = 0;
	element.addEventListener("click", () => choose(number));
	return {
		element,
		update({ variant, snapshot, on, stop }) {
			number = variant.number;
			setText(label, String(number + 1));
			setText(model, variant.model && ` · ${variant.model}`);
			const asking = askingTitle(variant.state) !== null;
			asks.hidden = !asking;
			setText(status, `, ${phaseNow(variant).spoken}`);
			mark.update(variant, snapshot);
			setAttribute(element, "title", variant.state.error ?? variant.state.model);
			boundMark.update(variant, snapshot);
			setAttribute(element, "aria-selected", String(on));
			setAttribute(element, "tabindex", stop ? "0" : "-1");
		},
	};
}

function createArrangements(context: Context) {
	return createRadios({
		label: "Arrange variants",
		className: "anb-views",
		items: ARRANGEMENTS,
		current: () => context.choices.arrangement,
		choose(arrangement) {
			context.choices.arrangement = arrangement;
			saveLayout({ arrangement });
			context.redraw();
		},
	});
}

/** Announces each question of a hidden variant once; the card of the visible one announces itself. */
function createQuestions(context: Context): (variants: readonly Variant[]) => void {
	const announced = new Map<number, string>();
	return (variants) => {
		const fresh: string[] = [];
		for (const { number, label, state } of variants) {
			const title = askingTitle(state);
			const shown = context.choices.arrangement === "one" && context.choices.variant === number;
			if (title !== null && announced.get(number) !== title && !shown) fresh.push(`${label} asks: ${title}`);
			if (title === null) announced.delete(number);
			else announced.set(number, title);
		}
		if (fresh.length) context.announce(fresh.join(". "));
	};
}
