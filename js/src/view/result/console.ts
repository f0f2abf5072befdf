// The page's console output and errors, which are also sent to the kernel.

import { h } from "../../base/dom.ts";
import type { ConsoleEntry } from "../../page/messages.ts";
import { addToAsk, referenceTo } from "../../run/ask.ts";
import { type Context, canRefer, followInFooter, openCode } from "../context.ts";
import { textButton } from "../shared/buttons.ts";
import { createLine } from "../shared/console-line.ts";

const MOST = 300;
const REPORT_AFTER = 300;
/** Maximum entries in a report; the newest are sent. */
const MOST_REPORTED = 100;
/** Maximum errors, and maximum other entries, reported per load: a page may log on every frame. */
const MOST_PER_LOAD = 200;
const MEANING =
	"It can then load from any https address, and send data there. This applies only to this preview, until the cell is run again, and not to saved, replayed and exported pages.";

/** `onErrors` receives the number of errors; nothing else outside the console depends on what a page logs. */
export function createConsole(context: Context, onErrors: (count: number) => void) {
	const list = h("ul", { class: "anb-con" });
	const empty = h("div", { class: "anb-empty" }, h("span", null, "No console messages."));
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

/** The checkbox that gives the live preview network access; hidden if access is fixed. */
function createNetwork({ run, choices, redraw }: Context) {
	const box = h("input", { type: "checkbox", onchange });
	const label = "Allow this page to load from the network";
	const element = h("label", { class: "anb-net" }, box, label, h("small", null, MEANING));
	function onchange(): void {
		choices.network = box.checked;
		redraw();
	}
	return {
		element,
		update() {
			element.hidden = Boolean(choices.replay || run.state?.meta.network || run.state?.meta.bound.length);
			box.checked = choices.network;
		},
	};
}

/** Links to the source line of an entry. */
function createPlace(context: Context, { file, line }: ConsoleEntry): HTMLElement | null {
	if (!file || !line) return null;
	const onclick = (): void => openCode(context, file, line);
	return h("button", { class: "at", title: "Show in Code", onclick }, `${file} line ${line}`);
}

/** Requests a fix for an error. The cell refers to it by the kernel's number and does not contain its text. */
function createFix(context: Context, entry: ConsoleEntry): HTMLElement {
	const { choices, run } = context;
	const ask = async (): Promise<void> => {
		const reply = run.command("preview_report", { variant: choices.variant, entries: [entry] });
		followInFooter(context, reply, "The kernel is busy and has not numbered this error yet.", () => {});
		const [number] = ((await reply) as { numbers?: unknown[] }).numbers ?? [];
		if (Number.isSafeInteger(number)) addToAsk(choices.ask, `Fix {{${referenceTo(run)}.console[${number}]}}`);
		context.redraw();
	};
	return textButton("Ask to fix", ask, "sm fix");
}

/** Sends entries to the kernel in batches, unless another view of the run does. */
function createReport({ run, choices, signal }: Context, view: HTMLElement): (entry: ConsoleEntry) => void {
	let pending: ConsoleEntry[] = [];
	let timer: ReturnType<typeof setTimeout> | undefined;
	signal.addEventListener("abort", () => {
		clearTimeout(timer);
		if (run.reporter === view) run.reporter = null;
	});

	function send(): void {
		timer = undefined;
		// When the reporting view is closed, the next one with entries takes over.
		run.reporter ??= view;
		if (pending.length && run.reporter === view && !run.state?.lost)
			void run.command("preview_report", { variant: choices.variant, entries: pending });
		pending = [];
	}

	return (entry) => {
		// The kernel already has the entries of a replay.
		if (choices.replay) return;
		pending.push(entry);
		if (pending.length > MOST_REPORTED) pending.shift();
		timer ??= setTimeout(send, REPORT_AFTER);
	};
}
