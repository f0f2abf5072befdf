// The top line: the phase of the run, its figures, and a button to stop it.

import { copyText } from "../../base/clipboard.ts";
import { h, hasFocus, icon, moveFocus, setAttribute, setChildren, setText } from "../../base/dom.ts";
import { bytes } from "../../base/format.ts";
import type { IconName } from "../../base/icons.ts";
import { type CellSource, cellSource } from "../../run/cell-source.ts";
import { labExtension } from "../../run/cells.ts";
import type { RunEntry } from "../../run/runs.ts";
import { copy, downloadAll, openInTab } from "../actions.ts";
import {
	type Context,
	canRefer,
	followInFooter,
	INTERRUPTED,
	type Snapshot,
	STOP_HINT,
	viewsIn,
} from "../context.ts";
import { createReplayButton } from "../replay/player.ts";
import { rove } from "../shared/buttons.ts";
import { insert } from "../shared/cell-button.ts";
import { headline } from "../shared/status.ts";
import { shownFile, shownPage } from "../shown.ts";
import { createMeta } from "./figures.ts";
import { createFoldButton, createFullScreenButton } from "./full-screen.ts";
import { createStageButton } from "./stage.ts";

export function createHeader(context: Context) {
	const status = createStatus(context);
	const stop = createStop(context);
	const replay = createReplayButton(context);
	const menu = createMenu(context);
	const views = [createStageButton(context), createFullScreenButton(context), createFoldButton(context)];
	const parts = [status, createChain(context), createMeta(context), stop, replay, menu, ...views];
	const element = h("header", { class: "anb-head" }, ...parts.map((part) => part.element), status.spoken);

	/** The target of the focus when Stop disappears: Actions, Replay, or else the transcript. */
	function afterStop(): HTMLElement | null | undefined {
		const places = [menu.element.querySelector("button"), replay.element];
		return (
			places.find((place) => place && !place.closest("[hidden]")) ??
			element.parentElement?.querySelector<HTMLElement>(".anb-scroll")
		);
	}

	return {
		element,
		stop: stop.press,
		update(snapshot: Snapshot) {
			const hadFocus = hasFocus(stop.element);
			for (const part of parts) part.update(snapshot);
			if (hadFocus && stop.element.hidden) moveFocus(afterStop());
		},
	};
}

/** The name of the run and its phase, visible and for a screen reader. */
function createStatus(context: Context) {
	const dot = h("span", { class: "anb-dot" });
	const name = h("span", { class: "name" });
	const words = h("span", { class: "words" });
	const phase = h("span", { class: "phase" });
	const spoken = h("span", { class: "anb-sr", role: "status", "aria-live": "polite" });
	const added = viewsIn(context, "header").map((create) => create(context));

	return {
		element: h("div", { class: "anb-status" }, dot, h("span", { class: "who" }, name, words), phase),
		spoken,
		update(snapshot: Snapshot) {
			const { run } = snapshot;
			const { tone, glyph, text, announced, path = "" } = headline(snapshot);
			setText(words, added.map((wordsOf) => wordsOf(snapshot)).join(""));
			setText(name, run.meta.name);
			setAttribute(dot, "class", `anb-dot ${tone}`);
			setChildren(dot, glyph, () => [glyph ? icon(glyph) : h("i")]);
			const parts = path ? [text.slice(0, -path.length), h("code", null, path)] : [text];
			const look = tone === "live" && "anb-live";
			setChildren(phase, `${tone} ${text}`, () => [h("span", { class: look }, ...parts)]);
			setAttribute(phase, "title", text);
			const { replay, stage } = context.choices;
			if (!replay && stage !== "shown") setText(spoken, `${run.meta.name}: ${announced}`);
		},
	};
}

/** The Stop button. If the kernel does not answer, it is interrupted, or the footer says what to press. */
function createStop(context: Context) {
	const label = h("span", null, "Stop");
	const square = h("span", { class: "stop" });
	const button = h("button", { class: "anb-btn anb-act", onclick: press }, square, label);
	const element = h("span", { class: "anb-stop" }, button);
	let stopping = false;

	function press(click: UIEvent): void {
		if (stopping) return;
		mark(true);
		const output = { element: button, key: context.run.key };
		followInFooter(context, context.run.command("stop"), STOP_HINT, (result) => {
			const silent = !result.done && result.why === STOP_HINT;
			const interrupted = silent && labExtension()?.interrupt(output, click) === true;
			if (interrupted) context.choices.note = INTERRUPTED;
			mark(result.done || interrupted);
		});
	}
	function mark(on: boolean): void {
		stopping = on;
		setText(label, on ? "Stopping" : "Stop");
		setAttribute(button, "aria-disabled", on ? "true" : null);
	}

	return {
		element,
		press,
		update() {
			element.hidden = !context.run.busy; // also before the kernel has answered: code may block it
		},
	};
}

/**
 * Links to the run that this one continues, and to those that continue it, so that they read as one conversation.
 * Only runs whose output is on the page are linked.
 */
function createChain({ run }: Context) {
	const element = h("span", { class: "anb-chain" });
	return {
		element,
		update() {
			const others = [...run.others()].filter((one) => one !== run && one.surface?.isConnected);
			const before = others.find((one) => one.state?.id === run.base);
			const after = others.filter((one) => one.base !== null && one.base === run.state?.id);
			const keys = [before, ...after].map((one) => one?.key).join();
			setChildren(element, keys, () => [
				...createLink(before, "up", "Continues"),
				...after.flatMap((one) => createLink(one, "out", "Continued in")),
			]);
		},
	};
}

function createLink(to: RunEntry | undefined, glyph: IconName, words: string): HTMLElement[] {
	const name = to?.state?.meta.name;
	if (!to || !name) return [];
	const title = `${words} ${name}: go there`;
	const onclick = (): void => {
		to.surface?.scrollIntoView({ block: "start" });
		to.surface?.shadowRoot?.querySelector<HTMLElement>(".anb-chain > button")?.focus({ preventScroll: true });
	};
	const parts = [icon(glyph), h("span", null, name)];
	return [h("button", { class: "anb-btn sm", title, "aria-label": title, onclick }, ...parts)];
}

/** Actions on a finished run, which replace Stop. */
function createMenu(context: Context) {
	const size = h("small");
	const copyItem = createItem(icon("copy"), "Copy file", size);
	const saveItem = createItem(icon("save"), "Save files");
	const openItem = createItem(icon("open"), "Open in new tab");
	const cell = h("code");
	const path = h("code");
	const pathItem = createItem(icon("file"), "Copy path", path);
	const exportItem = createItem(icon("replay"), "Export replay", cell);
	const actions = new Map<HTMLButtonElement, (press: MouseEvent) => void>([
		[copyItem, () => copy(context)],
		[saveItem, () => void downloadAll(context)],
		[openItem, () => openInTab(context)],
		[pathItem, () => void copyText(context, path.textContent ?? "")],
		[exportItem, (press) => exported && void insert(context, press, exported, { runs: true })],
	]);
	const element = createDropdown("Actions", actions);
	let exported: CellSource | null = null;

	return {
		element,
		update({ run, state }: Snapshot) {
			const shown = shownFile(state, context.choices);
			// Binary files can be saved, but not copied.
			copyItem.hidden = typeof shown?.text !== "string";
			setText(size, shown ? bytes(shown.version?.size ?? 0) : "");
			saveItem.hidden = state.files.size === 0;
			openItem.hidden = shownPage(state, context.choices) === null;
			setText(path, (run.ready?.paths ?? []).join("\n"));
			pathItem.hidden = path.textContent === "";
			exported = canRefer(context) ? cellSource("export", run.meta) : null;
			exportItem.hidden = exported === null;
			element.hidden = context.run.busy || [...actions.keys()].every((item) => item.hidden);
			setText(cell, exported ?? "");
		},
	};
}

function createItem(...children: (Node | string)[]): HTMLButtonElement {
	return h("button", { role: "menuitem", tabindex: -1 }, ...children);
}

/** A button that opens a menu. Pressing an item, Escape, or moving the focus elsewhere closes it. */
function createDropdown(
	label: string,
	actions: ReadonlyMap<HTMLButtonElement, (press: MouseEvent) => void>,
): HTMLElement {
	const items = [...actions.keys()];
	const props = { class: "anb-btn anb-act", "aria-haspopup": "menu", "aria-expanded": "false" };
	const button = h("button", props, label, icon("down"));
	const menu = h("div", { class: "anb-menu", role: "menu", "aria-label": label, hidden: true }, ...items);
	const element = h("span", { class: "anb-actions" }, button, menu);

	function toggle(open: boolean): void {
		menu.hidden = !open;
		button.setAttribute("aria-expanded", String(open));
		if (open) items.find((item) => !item.hidden)?.focus();
	}
	function close(): void {
		toggle(false);
		button.focus();
	}

	button.onclick = () => toggle(menu.hidden !== false);
	for (const [item, act] of actions) {
		item.onclick = (press) => {
			close();
			act(press);
		};
	}
	element.onkeydown = (event) => {
		if (!menu.hidden) onKey(event, items, close);
	};
	element.addEventListener("focusout", ({ relatedTarget }) => {
		if (!element.contains(relatedTarget as Node | null)) toggle(false);
	});
	return element;
}

function onKey(event: KeyboardEvent, items: readonly HTMLElement[], close: () => void): void {
	const visible = items.filter((item) => !item.hidden);
	rove(event, visible, visible.find(hasFocus), (item) => item?.focus());
	if (event.key !== "Escape") return;
	close();
	event.preventDefault();
	event.stopPropagation();
}
