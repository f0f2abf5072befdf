// The strip of a run with several variants: a tab for each, and how all of them are looked at.

import { h, icon, KeyedList, setAttribute, setText, type View } from "../dom.ts";
import type { IconName } from "../icons.ts";
import { askingTitle, type Option } from "../options.ts";
import { type Arrangement, saveLayout } from "../ui.ts";
import type { Context, Moment } from "./context.ts";
import { openOption } from "./grid.ts";
import { createHeld, createMark, createPick, createStopOrOpen, factsOf } from "./option.ts";
import { rove } from "./rove.ts";
import { phaseNow } from "./status.ts";

interface TabItem {
	option: Option;
	moment: Moment;
	on: boolean;
	/** Whether the Tab key comes here. */
	stop: boolean;
}

/** More tabs than these are numbers alone in a narrow frame. */
const MANY = 4;
const ARRANGEMENTS: readonly [Arrangement, IconName, string][] = [
	["one", "tabs", "One at a time"],
	["grid", "grid", "Grid"],
	["side", "side", "Side by side"],
];

export function createVariants(context: Context) {
	const strip = h("div", { class: "anb-tabs", role: "tablist", "aria-label": "Variants" });
	const facts = h("span", { class: "num mut" });
	const [pick, swap] = [createPick(context), createStopOrOpen(context, context)];
	const chosen = h("span", { class: "anb-chosen" }, facts, swap.element, pick.element);
	const arrangements = createArrangements(context);
	const element = h(
		"div",
		{ class: "anb-bar anb-vars", hidden: true },
		strip,
		h("span", { class: "sp" }),
		chosen,
		arrangements.element,
	);
	const tabs = new KeyedList<TabItem>(
		strip,
		({ option }) => String(option.number),
		() => createTab((number) => openOption(context, number)),
	);
	const tellQuestions = createQuestions(context);
	let numbers: number[] = [];

	strip.addEventListener(
		"keydown",
		(event) =>
			rove(event, numbers, context.choices.variant, (number) => {
				openOption(context, number);
				strip.querySelectorAll<HTMLElement>("[role=tab]")[number]?.focus();
			}),
		{ signal: context.signal },
	);

	return {
		element,
		update(moment: Moment) {
			const { options } = moment;
			const { arrangement } = context.choices;
			element.hidden = options.length < 2;
			if (element.hidden) return;
			if (arrangement !== "one")
				context.choices.variant = moment.run.ready?.variant ?? context.choices.variant;
			const shown = context.choices.variant;
			numbers = options.map((option) => option.number);
			element.classList.toggle("many", options.length > MANY);
			tabs.update(
				options.map((option) => {
					const stop = option.number === shown;
					return { option, moment, on: stop && arrangement === "one", stop };
				}),
			);
			const current = options[shown];
			chosen.hidden = arrangement !== "one" || !current;
			if (current) {
				setText(facts, current.state.busy ? phaseNow(current) : factsOf(current));
				swap.update(current, moment);
				pick.update(current, moment);
			}
			if (arrangement === "one") keepInSight(strip, shown);
			arrangements.update();
			tellQuestions(options);
		},
	};
}

/** Scrolls the strip alone: an element that is scrolled into view would move the notebook, too. */
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
	const word = h("span", { class: "word" }, "Option ");
	const model = h("span", { class: "mut model" });
	const asks = h("span", { class: "anb-asks", hidden: true }, "asks");
	const held = createHeld();
	const status = h("span", { class: "anb-sr" });
	const element = h(
		"button",
		{ class: "anb-tab", role: "tab", type: "button" },
		mark.element,
		h("span", null, word, label),
		model,
		asks,
		held.element,
		status,
	);
	let number = 0;
	element.addEventListener("click", () => choose(number));
	return {
		element,
		update({ option, moment, on, stop }) {
			number = option.number;
			setText(label, String(number + 1));
			setText(model, option.model && ` · ${option.model}`);
			const asking = askingTitle(option.state) !== null;
			asks.hidden = !asking;
			setText(status, `, ${phaseNow(option).replace(/ in \d+ s$/, "")}`);
			mark.update(option, moment);
			setAttribute(element, "title", option.state.error ?? option.state.model);
			held.update(option, moment);
			setAttribute(element, "aria-selected", String(on));
			setAttribute(element, "tabindex", stop ? "0" : "-1");
		},
	};
}

function createArrangements(context: Context) {
	const names = ARRANGEMENTS.map(([name]) => name);
	const buttons = ARRANGEMENTS.map(([name, glyph, label]) =>
		h(
			"button",
			{
				class: "anb-ic",
				type: "button",
				role: "radio",
				"aria-label": label,
				title: label,
				onclick: () => choose(name),
			},
			icon(glyph),
		),
	);
	const element = h(
		"div",
		{ class: "anb-views", role: "radiogroup", "aria-label": "Look at the options" },
		...buttons,
	);
	function choose(arrangement: Arrangement): void {
		context.choices.arrangement = arrangement;
		saveLayout({ arrangement });
		context.redraw();
	}
	element.addEventListener(
		"keydown",
		(event) =>
			rove(event, names, context.choices.arrangement, (name) => {
				choose(name);
				buttons[names.indexOf(name)]?.focus();
			}),
		{ signal: context.signal },
	);
	return {
		element,
		update() {
			names.forEach((name, index) => {
				const on = name === context.choices.arrangement;
				setAttribute(buttons[index]!, "aria-checked", String(on));
				setAttribute(buttons[index]!, "tabindex", on ? "0" : "-1");
			});
		},
	};
}

/** Tells of a question once, when its variant is not the one on screen; that one's card tells of itself. */
function createQuestions(context: Context): (options: readonly Option[]) => void {
	const told = new Map<number, string>();
	return (options) => {
		const fresh: string[] = [];
		for (const { number, label, state } of options) {
			const title = askingTitle(state);
			const shown = context.choices.arrangement === "one" && context.choices.variant === number;
			if (title !== null && told.get(number) !== title && !shown) fresh.push(`${label} asks: ${title}`);
			if (title === null) told.delete(number);
			else told.set(number, title);
		}
		if (fresh.length) context.announce(fresh.join(". "));
	};
}
