// What the page has logged and thrown; the kernel is told, too.

import { h, icon } from "../dom.ts";
import type { IconName } from "../icons.ts";
import type { ConsoleEntry, ConsoleLevel } from "../preview/messages.ts";
import type { Context } from "./context.ts";

const MOST = 300;
const REPORT_AFTER = 300;
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
	errors(): number;
	update(): void;
}

export function createConsole(context: Context): ConsoleView {
	const list = h("ul", { class: "anb-con" });
	const empty = h("div", { class: "anb-empty" }, h("span", null, "The page has logged nothing."));
	const element = h("div", { class: "anb-stage plain scrolls", tabindex: 0 }, list, empty);
	let errors = 0;
	let pending: ConsoleEntry[] = [];
	let timer: ReturnType<typeof setTimeout> | undefined;
	context.run.reporter ??= element;
	context.signal.addEventListener("abort", () => {
		clearTimeout(timer);
		if (context.run.reporter === element) context.run.reporter = null;
	});

	function report(): void {
		timer = undefined;
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
			if (entry.level === "error") errors++;
			// What a page says again in a replay is no news to the kernel.
			if (!context.choices.replay) pending.push(entry);
			timer ??= setTimeout(report, REPORT_AFTER);
			context.redraw();
		},
		clear() {
			list.replaceChildren();
			empty.hidden = false;
			errors = 0;
		},
		errors: () => errors,
		update() {},
	};
}
