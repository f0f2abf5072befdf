// The page itself, live in its sandboxed frame; scaled down to show it on a smaller device.

import { currentState, isOpen, pageOf, prefetch } from "../../actions.ts";
import { h, icon, setText } from "../../dom.ts";
import { Feed } from "../../preview/feed.ts";
import { LOSSES, type Loss } from "../../preview/messages.ts";
import { resolvePath } from "../../preview/resolve.ts";
import { shownPage } from "../../shown.ts";
import type { Context, Snapshot } from "../context.ts";
import type { ConsoleView } from "./console.ts";
import { createEmpty } from "./no-page.ts";
import { createScaling } from "./page-scaling.ts";

type Console = Pick<ConsoleView, "add" | "clear">;

/** For a page whose console nobody reads. */
const SILENT: Console = { add: () => {}, clear: () => {} };

export interface PreviewView {
	readonly element: HTMLElement;
	update(snapshot: Pick<Snapshot, "state">): void;
	/** Gives the frame up while nobody sees the page; the next update shows it again. */
	rest(): void;
	reload(): void;
	/** Runs a script of ours in the page. */
	run(code: string, given: { port: MessagePort }): void;
	/** Scrolls the page to a share of its height, from 0 to 1. */
	scrollToShare(share: number): void;
	/** "390 px at 63 %", or empty at full width. */
	scale(): string;
}

interface Options {
	/** The page is laid out at least that wide and scaled down to the room there is. */
	thumbnail?: number;
	/** Whether edits are scrolled to. */
	reveals?: boolean;
	onScrolled?(share: number): void;
}

export function createPreview(context: Context, options: Options = {}, console = SILENT): PreviewView {
	const holder = h("div", { class: "anb-page" });
	const stream = h("span", { class: "anb-stream", hidden: true });
	const empty = createEmpty();
	const stopped = createStopped(() => reload());
	const element = h("div", { class: "anb-stage" }, stream, holder, empty.element, stopped.element);
	const scaling = createScaling(context, element, holder, options.thumbnail ?? null);
	const feed = createFeed(context, console, { holder, empty, stopped, ...options });

	function reload(): void {
		stopped.hide();
		feed.reload();
	}

	return {
		element,
		update({ state }) {
			const shown = shownPage(state, context.choices);
			empty.update(state, shown);
			stream.hidden = !shown?.live || !state.busy;
			if (shown) feed.show(pageOf(context, shown));
			else feed.clear();
			if (!shown && state.busy) feed.warm();
			prefetch(context);
			scaling.update();
		},
		rest: () => feed.rest(),
		reload,
		run: (code, given) => feed.run(code, given),
		scrollToShare: (share) => feed.scrollToShare(share),
		scale: scaling.text,
	};
}

interface Stage extends Options {
	holder: HTMLElement;
	empty: ReturnType<typeof createEmpty>;
	stopped: ReturnType<typeof createStopped>;
}

/** Feeds the page into a frame, and shows what the frame reports. */
function createFeed(context: Context, console: Console, stage: Stage): Feed {
	const { holder, empty, stopped, reveals } = stage;
	const events = {
		onConsole: console.add,
		onRestart() {
			console.clear();
			stopped.hide();
		},
		onShown: empty.pageSeen,
		onLink: (href: string) => followLink(context, console, href),
		onLost: stopped.show,
		onScrolled: (share: number) => stage.onScrolled?.(share),
	};
	const feed = new Feed(holder, events, () => isOpen(context) || opened(context), reveals);
	context.signal.addEventListener("abort", () => feed.dispose());
	return feed;
}

/** Whether the user has opened this preview, which a replay closes. */
function opened({ choices }: Context): boolean {
	return !choices.replay && choices.network;
}

/** A link to another page of this run shows it; other links are not followed. */
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
	const title = h("strong", null, "Preview stopped");
	const text = h("span");
	const button = h("button", { class: "anb-btn", type: "button", onclick: reload }, icon("retry"), "Reload");
	const element = h(
		"div",
		{ class: "anb-empty anb-stopped", role: "alert", hidden: true },
		title,
		text,
		button,
	);
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
