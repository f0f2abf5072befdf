// The page itself, live in its sandboxed frame; scaled down to show it on a smaller device.

import { h, icon, setText, showText } from "../../base/dom.ts";
import { bytes } from "../../base/format.ts";
import { Feed } from "../../page/feed.ts";
import type { Frame } from "../../page/frame.ts";
import { LOSSES, type Loss } from "../../page/messages.ts";
import { resolvePath } from "../../page/resolve.ts";
import { labExtension } from "../../run/cells.ts";
import { WIDTHS } from "../../run/lab.ts";
import type { VariantState } from "../../run/state.ts";
import { currentState, modeOf, pageOf, prefetch, savedBound } from "../actions.ts";
import type { Context, Snapshot } from "../context.ts";
import { isPage, type ShownFile, shownPage } from "../shown.ts";
import type { createConsole } from "./console.ts";

type Console = Pick<ReturnType<typeof createConsole>, "add" | "clear">;

/** A console that discards its entries. */
const SILENT: Console = { add: () => {}, clear: () => {} };

interface Options {
	/** Minimum layout width of the page, which is scaled down to the available space. */
	thumbnail?: number;
	/** Whether the page scrolls to each edit. */
	reveals?: boolean;
	onScrolled?(share: number): void;
}

export function createPreview(context: Context, options: Options = {}, console = SILENT) {
	const holder = h("div", { class: "anb-page" });
	const stream = h("span", { class: "anb-stream", hidden: true });
	const empty = createEmpty();
	const stopped = createStopped(() => reload());
	const status = h("div", { class: "anb-bound", role: "status", hidden: true });
	const parts = [stream, holder, empty.element, stopped.element, status];
	const element = h("div", { class: "anb-stage" }, ...parts);
	const scaling = createScaling(context, element, holder, options.thumbnail ?? null);
	const feed = createFeed(context, console, { holder, stopped, status, onShown, ...options });
	let waits = false;

	function reload(): void {
		stopped.hide();
		feed.reload();
	}

	function onShown(): void {
		empty.pageSeen();
		if (!waits) element.classList.remove("dim");
	}

	return {
		element,
		update({ state }: Pick<Snapshot, "state">) {
			const newest = shownPage(state, context.choices);
			const shown = untilSeen(newest);
			waits = shown !== newest;
			if (waits) element.classList.add("dim");
			else if (!shown?.live) element.classList.remove("dim");
			empty.update(state, shown);
			stream.hidden = !newest?.live || !state.busy;
			if (shown) feed.show(pageOf(context, shown));
			else feed.clear();
			if (!shown && state.busy) feed.warm();
			prefetch(context);
			scaling.update();
		},
		/** Removes the frame while the page is not visible; the next update restores it. */
		rest: () => feed.rest(),
		reload,
		/** Runs our script in the page. */
		run: (code: string, given: { port: MessagePort }) => feed.run(code, given),
		/** Scrolls the page to a share of its height, from 0 to 1. */
		scrollToShare: (share: number) => feed.scrollToShare(share),
		scale: scaling.text,
	};
}

interface FeedOptions extends Options {
	holder: HTMLElement;
	stopped: ReturnType<typeof createStopped>;
	/** Says what a bound page is waiting for, or that it is not connected. */
	status: HTMLElement;
	onShown(): void;
}

/** Feeds the page into a frame, and shows what the frame reports. */
function createFeed(context: Context, console: Console, options: FeedOptions): Feed {
	const { holder, stopped, status, onShown, reveals } = options;
	const events = {
		onConsole: console.add,
		onRestart() {
			console.clear();
			stopped.hide();
			showText(status, "");
		},
		onShown,
		onLink: (href: string) => followLink(context, console, href),
		onSave: () => save(context, holder),
		onLost: stopped.show,
		onScrolled: (share: number) => options.onScrolled?.(share),
	};
	const access = {
		mode: () => (modeOf(context) === "closed" && opened(context) ? "open" : modeOf(context)),
		connect(frame: Frame) {
			const onStatus = (text: string): void => showText(status, text);
			const onNote = (level: "log" | "error", text: string): void => console.add({ level, text });
			const link = context.run.link(context.choices.variant);
			if (!link || context.choices.replay) return savedBound(context);
			return link.connect({ onStatus, onNote, onFlood: () => feed.lose(frame, "flooded") }, frame.signal);
		},
	};
	const feed = new Feed(holder, events, access, reveals);
	context.signal.addEventListener("abort", () => feed.dispose());
	return feed;
}

/** Whether the user has given this preview network access, which a replay revokes. */
function opened({ choices }: Context): boolean {
	return !choices.replay && choices.network;
}

function save(context: Context, element: Element): void {
	if (!labExtension()?.save({ element, key: context.run.key }))
		context.notify("Not saved: press Ctrl+S outside of the page");
}

/** Follows a link to another page of this run; other links are ignored. */
function followLink(context: Context, console: Console, href: string): void {
	const state = currentState(context);
	const page = shownPage(state, context.choices);
	const target = page && resolvePath(href, page.file.path);
	if (target !== null && state.files.has(target)) {
		Object.assign(context.choices, { file: target, moment: null });
		context.redraw();
	} else {
		console.add({ level: "info", text: `The preview stays on its page: ${href} was not followed.` });
	}
}

/** Shown in place of a page that had to be stopped. */
function createStopped(reload: () => void) {
	const text = h("span");
	const button = h("button", { class: "anb-btn", onclick: reload }, icon("retry"), "Reload");
	const props = { class: "anb-empty anb-stopped", role: "alert", hidden: true };
	const element = h("div", props, h("strong", null, "Preview stopped"), text, button);
	return {
		element,
		show(why: Loss) {
			setText(text, LOSSES[why]);
			element.hidden = false;
		},
		hide() {
			element.hidden = true;
		},
	};
}

const MARGIN = 16;

/** With a `thumbnail` width, the page is laid out at least that wide and scaled down to the available space. */
function createScaling(
	{ choices, signal }: Context,
	stage: HTMLElement,
	page: HTMLElement,
	thumbnail: number | null,
) {
	let room = { width: 0, height: 0 };
	let text = "";

	function scaleTo(width: number, margin: number): number {
		const free = { width: room.width - 2 * margin, height: room.height - 2 * margin };
		const scale = Math.min(1, free.width / width);
		page.style.width = `${width}px`;
		page.style.height = `${free.height / scale}px`;
		page.style.transform = `scale(${scale})`;
		return scale;
	}

	function fitDevice(): void {
		const width = WIDTHS[choices.device];
		stage.classList.toggle("dev", width !== null);
		if (width === null || room.width === 0) {
			page.removeAttribute("style");
			text = "";
			return;
		}
		const margin = width > room.width ? 0 : MARGIN;
		stage.classList.toggle("whole", margin === 0);
		const scale = scaleTo(width, margin);
		page.style.left = `${(room.width - width * scale) / 2}px`;
		page.style.top = `${margin}px`;
		text = `${width} px at ${Math.round(scale * 100)} %`;
	}

	function update(): void {
		stage.style.setProperty("--anb-scheme", choices.scheme);
		if (thumbnail === null) fitDevice();
		else if (room.width) scaleTo(Math.max(thumbnail, room.width), 0);
	}

	const observer = new ResizeObserver(([entry]) => {
		room = entry?.contentRect ?? room;
		update();
	});
	observer.observe(stage);
	signal.addEventListener("abort", () => observer.disconnect());

	/** "390 px at 63 %", or empty at full width. */
	return { update, text: () => text };
}

/** Length in characters above which a page is assumed to have a body. */
const MOST_HEAD = 100_000;
/** Characters of the source to show; more than fit. */
const MOST_SOURCE = 4000;

/**
 * The placeholder until the page is visible: first a drawing, then the end of the source as it is written. Also shown
 * if a run ends before its page has a body.
 */
function createEmpty() {
	const text = h("span");
	const wire = h("div", { class: "anb-wire", "aria-hidden": "true" }, h("i"), h("i"), h("i"), h("i"), h("i"));
	const source = h("pre", { "aria-hidden": "true" });
	const element = h("div", { class: "anb-empty", hidden: true }, wire, source, text);
	let seen = false;
	let early = "";

	function draw({ busy }: VariantState, tail: string): void {
		const coming = busy || tail !== "";
		setText(source, tail);
		element.classList.toggle("source", tail !== "");
		setText(text, coming ? "The page appears here as it is written." : early || "This run has no page.");
	}

	return {
		element,
		pageSeen() {
			seen = true;
			element.hidden = !early;
		},
		update(state: VariantState, shown: ShownFile | null) {
			early = state.busy ? "" : endedEarly(shown, state.reason === "stopped");
			seen &&= shown !== null && !early;
			// A finished page needs no placeholder while it loads.
			element.hidden = shown !== null && (seen || (!state.busy && element.hidden)) && !early;
			if (!element.hidden) draw(state, early ? "" : (shown?.text ?? "").slice(-MOST_SOURCE));
		},
	};
}

/** Falls back to the last version of a page that is being rewritten until the new text has visible content. */
function untilSeen(shown: ShownFile | null): ShownFile | null {
	const { live, version, text } = shown ?? {};
	if (!shown || !live || !version?.text || !isPage(shown.file.path) || hasBody(text ?? "")) return shown;
	return { ...shown, text: version.text, epoch: version.epoch, live: false };
}

/** Explains a page that ended without a body; empty for any other page. */
function endedEarly(shown: ShownFile | null, stopped: boolean): string {
	if (!shown?.text || !isPage(shown.file.path) || hasBody(shown.text)) return "";
	const styles = (shown.text.match(STYLES) ?? []).join("").length;
	const what = styles ? `${bytes(styles)} of styles` : bytes(shown.text.length);
	return `${stopped ? "Stopped" : "Ended"} before the page had a body: ${what} in ${shown.file.path}`;
}

const STYLES = /<style\b[\s\S]*?(?:<\/style>|$)/gi;
const TITLES = /<title\b[\s\S]*?(?:<\/title>|$)/gi;
const COMMENTS = /<!--[\s\S]*?(?:-->|$)/g;
const SEEN = /<(?:script|img|svg|canvas|video|iframe|input|hr)\b/i;

/** Whether the page has visible content, or a script that may draw it. */
export function hasBody(html: string): boolean {
	if (html.length > MOST_HEAD) return true;
	const rest = html.replace(COMMENTS, "").replace(STYLES, "").replace(TITLES, "");
	return SEEN.test(rest) || rest.replace(/<[^>]*>?/g, "").trim() !== "";
}
