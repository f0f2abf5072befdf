// What the page has logged and thrown; the kernel is told, too.

import { h, icon } from "../dom.ts";
import type { IconName } from "../icons.ts";
import type { ConsoleEntry, ConsoleLevel } from "../preview/messages.ts";
import type { Context } from "./context.ts";

const MOST = 300;
const REPORT_AFTER = 300;
/** Entries in one report: the newest are kept. */
const MOST_REPORTED = 100;
/** Errors, and things of any other kind, that are reported of one load: a page may log on every frame. */
const MOST_PER_LOAD = 200;
const LOOK: Record<ConsoleLevel, [string, IconName]> = {
	log: ["", "right"],
	info: ["", "right"],
	debug: ["", "right"],
	warn: ["w", "warn"],
	error: ["e", "error"],
};

export interface ConsoleView {
	readonly element: HTMLElement;
	add(entry: ConsoleEntry): void;
	clear(): void;
	update(): void;
}

/** `onErrors` is told how many errors there are: the rest of the interface has no part in what a page logs. */
export function createConsole(context: Context, onErrors: (count: number) => void): ConsoleView {
	const list = h("ul", { class: "anb-con" });
	const empty = h("div", { class: "anb-empty" }, h("span", null, "The page has logged nothing."));
	const element = h("div", { class: "anb-stage plain scrolls", tabindex: 0 }, list, empty);
	let [errors, others] = [0, 0];
	let pending: ConsoleEntry[] = [];
	let timer: ReturnType<typeof setTimeout> | undefined;
	context.signal.addEventListener("abort", () => {
		clearTimeout(timer);
		if (context.run.reporter === element) context.run.reporter = null;
	});

	function report(): void {
		timer = undefined;
		// One view of a run reports; when it is closed, the next that has something to tell takes over.
		context.run.reporter ??= element;
		const mine = context.run.reporter === element && context.run.state?.owner;
		if (pending.length && mine) {
			const { variant } = context.choices;
			void context.run.command("preview_report", { variant, entries: pending });
		}
		pending = [];
	}

	return {
		element,
		add(entry) {
			const [look, glyph] = LOOK[entry.level];
			const where = entry.line ? h("span", { class: "at" }, `line ${entry.line}`) : null;
			list.append(h("li", { class: look }, icon(glyph), h("span", { class: "text" }, entry.text), where));
			if (list.childElementCount > MOST) list.firstElementChild?.remove();
			empty.hidden = true;
			const nth = entry.level === "error" ? ++errors : ++others;
			if (entry.level === "error") onErrors(errors);
			// What a page says again in a replay is no news to the kernel.
			if (context.choices.replay || nth > MOST_PER_LOAD) return;
			pending.push(entry);
			if (pending.length > MOST_REPORTED) pending.shift();
			timer ??= setTimeout(report, REPORT_AFTER);
		},
		clear() {
			list.replaceChildren();
			empty.hidden = false;
			errors = others = 0;
			onErrors(0);
		},
		update() {},
	};
}
