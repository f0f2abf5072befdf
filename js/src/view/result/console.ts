// What the page has logged and thrown. It is also sent to the kernel.

import { addToAsk } from "../../ask.ts";
import { type Child, h, icon, listen } from "../../dom.ts";
import type { IconName } from "../../icons.ts";
import type { ConsoleEntry, ConsoleLevel } from "../../preview/messages.ts";
import { type Context, canRefer, followInFooter } from "../context.ts";

const MOST = 300;
const REPORT_AFTER = 300;
/** Entries in one report, of which the newest are sent. */
const MOST_REPORTED = 100;
/** How many errors, and how many other entries, are reported per load: a page may log on every frame. */
const MOST_PER_LOAD = 200;
const MEANING =
	"It can then load from any https address, and send there what it knows. Only this preview opens, until the cell is run again; saved, replayed and exported pages stay closed.";

/** `onErrors` gets the number of errors; nothing else outside of the console depends on what a page logs. */
export function createConsole(context: Context, onErrors: (count: number) => void) {
	const list = h("ul", { class: "anb-con" });
	const empty = h("div", { class: "anb-empty" }, h("span", null, "The page has logged nothing."));
	const network = createNetwork(context);
	const element = h("div", { class: "anb-stage plain scrolls", tabindex: 0 }, network.element, list, empty);
	const report = createReport(context, element);
	let [errors, others] = [0, 0];

	return {
		element,
		add(entry: ConsoleEntry) {
			const fix = entry.level === "error" && createFix(context, entry);
			const acts = h("span", { class: "acts" }, createPlace(context, entry), fix);
			list.append(createLine(entry.level, entry.text, acts));
			if (list.childElementCount > MOST) list.firstElementChild?.remove();
			empty.hidden = true;
			const nth = entry.level === "error" ? ++errors : ++others;
			if (entry.level === "error") onErrors(errors);
			if (nth <= MOST_PER_LOAD) report(entry);
		},
		clear() {
			list.replaceChildren();
			empty.hidden = false;
			errors = others = 0;
			onErrors(0);
		},
		update() {
			network.update();
			list.classList.toggle("asks", canRefer(context));
		},
	};
}

/** Opens the live preview of this run to the network. Where it is open or closed anyway, there is nothing to choose. */
function createNetwork({ run, choices, redraw, signal }: Context) {
	const box = h("input", { type: "checkbox" });
	const element = h(
		"label",
		{ class: "anb-net" },
		box,
		"Allow this page to load from the network",
		h("small", null, MEANING),
	);
	listen(box, "change", signal, () => {
		choices.network = box.checked;
		redraw();
	});
	return {
		element,
		update() {
			element.hidden = Boolean(choices.replay || run.state?.meta.network || run.state?.meta.bound.length);
			box.checked = choices.network;
		},
	};
}

/** Leads to the line that an entry comes from. */
function createPlace(context: Context, { file, line }: ConsoleEntry): HTMLElement | null {
	if (!file || !line) return null;
	const button = h("button", { class: "at", type: "button", title: "Show in Code" }, `${file} line ${line}`);
	listen(button, "click", context.signal, () => {
		Object.assign(context.choices, { tab: "code", file, moment: null, line });
		context.redraw();
	});
	return button;
}

/** Asks for an error to be fixed. The kernel says its number, by which the cell refers to it: its text stays here. */
function createFix(context: Context, entry: ConsoleEntry): HTMLElement {
	const { choices, run, signal } = context;
	const button = h("button", { class: "anb-btn sm fix", type: "button" }, "Ask to fix");
	listen(button, "click", signal, async () => {
		const reply = run.command("preview_report", { variant: choices.variant, entries: [entry] });
		followInFooter(
			context,
			reply,
			"The kernel is busy. It has yet to say the number of this error.",
			() => {},
		);
		const [number] = ((await reply) as { numbers?: unknown[] }).numbers ?? [];
		if (Number.isSafeInteger(number))
			addToAsk(choices.ask, `Fix {{${run.state?.meta.name}.console[${number}]}}`);
		context.redraw();
	});
	return button;
}

/** Sends entries to the kernel, several at a time, unless another view of the run does. */
function createReport({ run, choices, signal }: Context, view: HTMLElement): (entry: ConsoleEntry) => void {
	let pending: ConsoleEntry[] = [];
	let timer: ReturnType<typeof setTimeout> | undefined;
	signal.addEventListener("abort", () => {
		clearTimeout(timer);
		if (run.reporter === view) run.reporter = null;
	});

	function send(): void {
		timer = undefined;
		// When the view that reports is closed, the next one that has entries takes over.
		run.reporter ??= view;
		if (pending.length && run.reporter === view && !run.state?.lost)
			void run.command("preview_report", { variant: choices.variant, entries: pending });
		pending = [];
	}

	return (entry) => {
		// The kernel has had the entries of a replay before.
		if (choices.replay) return;
		pending.push(entry);
		if (pending.length > MOST_REPORTED) pending.shift();
		timer ??= setTimeout(send, REPORT_AFTER);
	};
}

/** What makes a level stand out: its class and its icon. */
const LOOK: Partial<Record<ConsoleLevel, [string, IconName]>> = {
	warn: ["w", "warn"],
	error: ["e", "error"],
};

/** A line; `more` is what it leads to. */
export function createLine(level: ConsoleLevel, text: string, more: Child = null): HTMLElement {
	const [look = "", glyph] = LOOK[level] ?? [];
	return h("li", { class: look }, glyph ? icon(glyph) : h("i"), h("span", { class: "text" }, text), more);
}
