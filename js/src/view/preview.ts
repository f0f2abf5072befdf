// The page itself, live in its sandboxed frame; scaled when the person wants to see it on a smaller device.

import { currentState, pageOf, prefetch } from "../actions.ts";
import { h, icon, setText } from "../dom.ts";
import { Feed, type FeedEvents } from "../preview/feed.ts";
import type { Loss } from "../preview/frame.ts";
import { resolvePath } from "../preview/resolve.ts";
import { shownPage } from "../shown.ts";
import type { Device } from "../ui.ts";
import type { ConsoleView } from "./console.ts";
import type { Context, Snapshot } from "./context.ts";

const WIDTHS: Record<Device, number | null> = { phone: 390, tablet: 768, full: null };
const MARGIN = 16;

export interface PreviewView {
	readonly element: HTMLElement;
	update(snapshot: Pick<Snapshot, "state">): void;
	reload(): void;
	/** "390 px at 63 %", or nothing at full width. */
	scale(): string;
}

/** With a `thumbnail` width the page is laid out as wide as that and drawn as small as there is room. */
export function createPreview(
	context: Context,
	console: Pick<ConsoleView, "add" | "clear">,
	thumbnail: number | null = null,
): PreviewView {
	const holder = h("div", { class: "anb-page" });
	const stream = h("span", { class: "anb-stream", hidden: true });
	const empty = createEmpty();
	const stopped = createStopped(() => reload());
	const element = h("div", { class: "anb-stage" }, stream, holder, empty.element, stopped.element);
	const events: FeedEvents = {
		onConsole: (entry) => console.add(entry),
		onRestart: () => {
			console.clear();
			stopped.hide();
		},
		onShown: () => {
			seen = true;
			empty.element.hidden = true;
		},
		onLink: (href) => follow(href),
		onLost: (why) => stopped.show(why),
	};
	const feed = new Feed(holder, events, () => context.run.state?.meta.network ?? false);
	let size = { width: 0, height: 0 };
	let scaled = "";
	let path: string | null = null;
	let seen = false;

	function reload(): void {
		stopped.hide();
		feed.reload();
	}

	/** A link to another page of this run shows it; the rest of the web stays outside. */
	function follow(href: string): void {
		const target = path === null ? null : resolvePath(href, path);
		if (target !== null && currentState(context).files.has(target)) {
			context.choices.file = target;
			context.choices.version = null;
			context.redraw();
		} else {
			console.add({ level: "info", text: `The preview stays on its page: ${href} was not followed.` });
		}
	}

	function shrink(width: number): void {
		const scale = size.width / width;
		holder.style.width = `${width}px`;
		holder.style.height = `${size.height / scale}px`;
		holder.style.transform = `scale(${scale})`;
	}

	function rescale(): void {
		if (thumbnail !== null) {
			if (size.width) shrink(thumbnail);
			return;
		}
		const width = WIDTHS[context.choices.device];
		element.classList.toggle("dev", width !== null);
		if (width === null || size.width === 0) {
			holder.removeAttribute("style");
			scaled = "";
			return;
		}
		const room = { width: size.width - 2 * MARGIN, height: size.height - 2 * MARGIN };
		const scale = Math.min(1, room.width / width);
		holder.style.width = `${width}px`;
		holder.style.height = `${room.height / scale}px`;
		holder.style.transform = `scale(${scale})`;
		holder.style.left = `${(size.width - width * scale) / 2}px`;
		holder.style.top = `${MARGIN}px`;
		scaled = `${width} px at ${Math.round(scale * 100)} %`;
	}

	const observer = new ResizeObserver(([entry]) => {
		if (!entry) return;
		size = { width: entry.contentRect.width, height: entry.contentRect.height };
		rescale();
	});
	observer.observe(element);
	context.signal.addEventListener("abort", () => {
		observer.disconnect();
		feed.dispose();
	});

	return {
		element,
		update({ state }) {
			const shown = shownPage(state, context.choices);
			path = shown?.file.path ?? null;
			// A finished page that is only being loaded needs no word.
			empty.update(state.busy, shown !== null && (seen || !state.busy));
			stream.hidden = !shown?.live || !state.busy;
			if (shown) feed.show(pageOf(context, shown));
			else {
				seen = false;
				feed.clear();
				if (state.busy) feed.warm();
			}
			prefetch(context);
			rescale();
		},
		reload,
		scale: () => scaled,
	};
}

function createEmpty() {
	const text = h("span");
	const wire = h("div", { class: "anb-wire", "aria-hidden": "true" }, h("i"), h("i"), h("i"), h("i"), h("i"));
	const element = h("div", { class: "anb-empty" }, wire, text);
	return {
		element,
		update(busy: boolean, filled: boolean) {
			element.hidden = filled;
			setText(text, busy ? "The page appears here as it is written." : "This run left no page.");
		},
	};
}

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
			const reasons: Record<Loss, string> = {
				hung: "The page did not answer for some seconds.",
				left: "The page tried to leave for another address.",
				grabbed: "The page took the keyboard again and again.",
				flooded: "The page sent more messages than can be taken.",
			};
			setText(text, reasons[why]);
			element.hidden = false;
		},
		hide() {
			element.hidden = true;
		},
	};
}
