// The strip of a run with several variants: a tab for each, and how all of them are looked at.

import { h, KeyedList, listen, setAttribute, setText, type View } from "../dom.ts";
import type { IconName } from "../icons.ts";
import { askingTitle, type Option } from "../options.ts";
import { type Arrangement, saveLayout } from "../ui.ts";
import { createRadios } from "./buttons.ts";
import type { Context, Moment } from "./context.ts";
import { createHeld, createMark, createPick, createStopOrOpen, factsOf, openOption } from "./option.ts";
import { rove } from "./rove.ts";
import { phaseNow, withoutSeconds } from "./status.ts";

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
	const { choices } = context;
	const tabs = createTabs(context);
	const chosen = createChosen(context);
	const arrangements = createArrangements(context);
	const element = h(
		"div",
		{ class: "anb-bar anb-vars", hidden: true },
		tabs.element,
		h("span", { class: "sp" }),
		chosen.element,
		arrangements.element,
	);
	const announceQuestions = createQuestions(context);

	return {
		element,
		update(moment: Moment) {
			const { options, run } = moment;
			element.hidden = options.length < 2;
			if (element.hidden) return;
			if (choices.arrangement !== "one") choices.variant = run.ready?.variant ?? choices.variant;
			element.classList.toggle("many", options.length > MANY);
			tabs.update(moment);
			chosen.update(moment);
			arrangements.update();
			announceQuestions(options);
		},
	};
}

function createTabs(context: Context) {
	const { choices } = context;
	const element = h("div", { class: "anb-tabs", role: "tablist", "aria-label": "Variants" });
	const tabs = new KeyedList<TabItem>(
		element,
		({ option }) => String(option.number),
		() => createTab((number) => openOption(context, number)),
	);
	let numbers: number[] = [];

	listen(element, "keydown", context.signal, (event) =>
		rove(event, numbers, choices.variant, (number) => {
			openOption(context, number);
			element.querySelectorAll<HTMLElement>("[role=tab]")[number]?.focus();
		}),
	);

	return {
		element,
		update(moment: Moment) {
			const alone = choices.arrangement === "one";
			numbers = moment.options.map(({ number }) => number);
			tabs.update(
				moment.options.map((option) => {
					const stop = option.number === choices.variant;
					return { option, moment, on: stop && alone, stop };
				}),
			);
			if (alone) keepInSight(element, choices.variant);
		},
	};
}

/** What is known of the one variant on screen, and what can be done with it. */
function createChosen(context: Context) {
	const { choices } = context;
	const facts = h("span", { class: "num mut" });
	const [pick, swap] = [createPick(context), createStopOrOpen(context, context)];
	const element = h("span", { class: "anb-chosen" }, facts, swap.element, pick.element);
	return {
		element,
		update(moment: Moment) {
			const option = moment.options[choices.variant];
			element.hidden = choices.arrangement !== "one" || !option;
			if (!option) return;
			setText(facts, option.state.busy ? phaseNow(option) : factsOf(option));
			swap.update(option, moment);
			pick.update(option, moment);
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
			setText(status, `, ${withoutSeconds(phaseNow(option))}`);
			mark.update(option, moment);
			setAttribute(element, "title", option.state.error ?? option.state.model);
			held.update(option, moment);
			setAttribute(element, "aria-selected", String(on));
			setAttribute(element, "tabindex", stop ? "0" : "-1");
		},
	};
}

function createArrangements(context: Context) {
	return createRadios(context, {
		label: "Look at the options",
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

/** Tells of a question once, when its variant is not the one on screen; that one's card tells of itself. */
function createQuestions(context: Context): (options: readonly Option[]) => void {
	const announced = new Map<number, string>();
	return (options) => {
		const fresh: string[] = [];
		for (const { number, label, state } of options) {
			const title = askingTitle(state);
			const shown = context.choices.arrangement === "one" && context.choices.variant === number;
			if (title !== null && announced.get(number) !== title && !shown) fresh.push(`${label} asks: ${title}`);
			if (title === null) announced.delete(number);
			else announced.set(number, title);
		}
		if (fresh.length) context.announce(fresh.join(". "));
	};
}
