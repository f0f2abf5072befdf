// Selects elements of the previewed page. An overlay captures the pointer and the keys, so the page does not notice and
// is not changed.

import { h, hasFocus, listen, moveFocus, setAttribute } from "../../base/dom.ts";
import inside from "../../page/inspect/inside.ts?bundle";
import {
	type ElementMatch,
	type ElementQuery,
	type PathStep,
	readMatch,
	type Selection,
} from "../../page/inspect/messages.ts";
import type { ElementRef } from "../../run/ask.ts";
import { isFile, isPath } from "../../run/cell-source.ts";
import { wordsFor } from "../../run/words.ts";
import { type Context, isBound, type Snapshot } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";
import { shownPage } from "../shown.ts";
import { frameIn, nameOf, Outlines } from "./outlines.ts";

/** The subset of the preview used here. */
interface Preview {
	readonly element: HTMLElement;
	/** Runs a script in the page. */
	run(code: string, given: { port: MessagePort }): void;
}

const HELP = "Point at an element: arrow keys move, Enter selects one, Shift+Enter several, Escape leaves";
const MOVES = { ArrowUp: "parent", ArrowDown: "child", ArrowRight: "next", ArrowLeft: "previous" } as const;
/** Timeout in milliseconds after which the script is sent again: the page may have been reloaded. */
const PATIENCE = 500;

function createInspector(context: Context, preview: Preview) {
	const outlines = new Outlines(preview.element, context.signal);
	const help = { class: "anb-inspect", tabindex: 0, role: "application", "aria-label": HELP, hidden: true };
	const element = h("div", help);
	const finder = createFinder(preview, (match, moved) => {
		outlines.show(match);
		if (moved) context.announce(nameOf(match));
	});
	preview.element.append(element, outlines.element);
	const frame = element.closest<HTMLElement>(".anb-frame");

	function toggle(on: boolean, keepsMatch = false): void {
		if (element.hidden === !on) return;
		const hadFocus = hasFocus(element);
		element.hidden = !on;
		if (hadFocus && frame) moveFocus(afterPointing(frame));
		if (!keepsMatch) outlines.show(null);
		if (on) element.focus({ preventScroll: true });
		context.redraw();
	}

	function choose(event: MouseEvent | KeyboardEvent): void {
		const { match } = finder;
		if (!event.isTrusted || !match) return;
		const pointed = select(context, match, event.shiftKey);
		if (pointed) {
			outlines.select(pointed, match.box);
			finder.select(match.steps);
		}
		if (!event.shiftKey) toggle(false, true);
	}

	listen(element, "pointerleave", context.signal, () => element.hidden || outlines.show(null));
	listen(element, "click", context.signal, choose);
	listenForMoves(context, element, preview, finder.ask, choose);
	if (frame) listenForEscape(context, frame, element, toggle);
	return {
		get on() {
			return !element.hidden;
		},
		toggle,
		/** Hides the outlines of elements without a note, and removes all if the page has been loaded again. */
		update(): void {
			const pointed = context.choices.ask.notes.flatMap((note) => note.elements);
			outlines.keep(pointed, !element.hidden);
			if (!outlines.isStale && (pointed.length || !element.hidden)) return;
			outlines.clear();
			finder.forget();
		},
	};
}

/** The button of this frame; on the stage, whose bar has the button, the field. */
function afterPointing(frame: HTMLElement): HTMLElement | null {
	const button = frame.querySelector<HTMLElement>(".anb-point");
	return button?.checkVisibility() ? button : frame.querySelector<HTMLElement>(".anb-askrow .anb-field");
}

/** Works anywhere in the widget, such as in the field of a note. */
function listenForEscape(
	{ signal }: Context,
	frame: HTMLElement,
	layer: HTMLElement,
	toggle: (on: boolean) => void,
): void {
	listen(frame, "keydown", signal, (event) => {
		if (event.key !== "Escape" || layer.hidden || event.defaultPrevented) return;
		event.preventDefault();
		toggle(false);
	});
}

/** Translates pointer, wheel and key events to queries. */
function listenForMoves(
	{ signal }: Context,
	element: HTMLElement,
	preview: Preview,
	ask: (where: ElementQuery) => void,
	choose: (event: KeyboardEvent) => void,
): void {
	listen(element, "pointermove", signal, (event) => ask(pointIn(preview, event)));
	listen(element, "wheel", signal, (event) => {
		event.preventDefault();
		ask({ scroll: [event.deltaX, event.deltaY] });
	});
	listen(element, "keydown", signal, (event) => {
		const move = MOVES[event.key as keyof typeof MOVES];
		if (move) ask({ move });
		else if (event.key === "Enter") choose(event);
		else return;
		event.preventDefault();
	});
}

/** Queries the page for elements, one at a time, and validates the answers. */
function createFinder(preview: Preview, show: (match: ElementMatch, moved: boolean) => void) {
	let port: MessagePort | null = null;
	let pending = 0;
	let next: ElementQuery | null = null;
	let match: ElementMatch | null = null;
	let selections: Selection[] = [];

	function connect(): void {
		const channel = new MessageChannel();
		port?.close();
		port = channel.port1;
		port.onmessage = ({ data }: MessageEvent<unknown>) => {
			const moved = pending > 0 && last !== null && "move" in last;
			pending = 0;
			match = readMatch(data);
			if (match) show(match, moved);
			if (next) ask(next);
		};
		preview.run(inside, { port: channel.port2 });
		for (const selection of selections) port.postMessage(selection);
	}

	let last: ElementQuery | null = null;
	function ask(where: ElementQuery): void {
		const now = performance.now();
		if (pending && now - pending < PATIENCE) {
			next = where;
			return;
		}
		if (!port || pending) connect();
		[pending, last, next] = [now, where, null];
		port?.postMessage(where);
	}

	return {
		ask,
		get match() {
			return match;
		},
		/** Makes the page report the box of the element with every match. */
		select(steps: readonly PathStep[]) {
			selections.push({ select: steps });
			port?.postMessage(selections.at(-1));
		},
		/** Restarts with the current page. */
		forget() {
			port?.close();
			[port, pending, next, match, selections] = [null, 0, null, null, []];
		},
	};
}

function pointIn(preview: Preview, event: PointerEvent): ElementQuery {
	const { box, scale } = frameIn(preview.element);
	return { x: (event.clientX - box.left) / scale, y: (event.clientY - box.top) / scale };
}

/** Adds an element to the notes: to the last one with `more`, else to a new one. Returns null if no cell can refer to it. */
function select(context: Context, match: ElementMatch, more: boolean): ElementRef | null {
	const { choices, run } = context;
	const state = run.state?.variants.get(choices.variant);
	const page = state && shownPage(state, choices);
	if (!page || page.text === null) return null;
	const steps = stepsInSource(page.text, match.steps);
	const path = pathOf(steps);
	if (!isPath(path) || !isFile(page.file.path)) return null;
	const tag = match.steps.at(-1)?.[0] ?? "";
	const inSource = steps.length === match.steps.length;
	const around = wordsFor(steps.at(-1)?.[0] ?? "html");
	const label = inSource ? wordsFor(tag) : `${wordsFor(tag)} made by a script, in ${around}`;
	const pointed: ElementRef = { path, file: page.file.path, label, line: null, origin: "" };
	note(context, pointed, more);
	context.announce(`Selected: ${label}`);
	void locate(context, pointed, inSource ? tag : null);
	return pointed;
}

function note({ choices, draw }: Context, pointed: ElementRef, more: boolean): void {
	const { notes } = choices.ask;
	const last = notes.at(-1);
	if (last && (more || !last.text)) {
		const elements = more ? [...last.elements, pointed] : [pointed];
		notes.splice(-1, 1, { ...last, elements });
	} else notes.push({ elements: [pointed], text: "" });
	choices.ask.focus = more ? undefined : "note";
	draw();
}

/** Requests the source line and the call that wrote it from the kernel. A busy kernel answers later. */
async function locate(
	{ choices, run, draw }: Context,
	pointed: ElementRef,
	tag: string | null,
): Promise<void> {
	const { path, file } = pointed;
	const answer = await run.command("element", { variant: choices.variant, path, file });
	if (!answer.ok || !isPath(String(answer.path))) return;
	const { line, place, turn, edit } = answer;
	Object.assign(pointed, {
		path: answer.path,
		label: tag === null ? pointed.label : wordsFor(tag, String(place)),
		line: Number(line),
		origin: turn ? `turn ${turn}: ${edit}` : "from before this run",
	});
	Object.assign(choices, { file, moment: null, line: Number(line) });
	const { notes } = choices.ask;
	choices.ask.notes = notes.map((other) => (other.elements.includes(pointed) ? { ...other } : other));
	// Text typed before the next frame would go into the replaced note.
	draw();
}

/** The longest prefix of the steps that exists in the source; scripts may have created or moved the rest. */
export function stepsInSource(source: string, steps: readonly PathStep[]): readonly PathStep[] {
	let at: Element = new DOMParser().parseFromString(source, "text/html").documentElement;
	for (const [index, [tag, number, count]] of steps.entries()) {
		const same = [...at.children].filter((child) => child.localName === tag);
		const next = same[number - 1];
		if (!next || same.length !== count) return steps.slice(0, index);
		at = next;
	}
	return steps;
}

export function pathOf(steps: readonly PathStep[]): string {
	const names = steps.map(([tag, number, count]) => (count > 1 ? `${tag}:nth-of-type(${number})` : tag));
	return names.join(" > ") || "html";
}

/** The button that starts selecting elements of the preview. */
export function createInspectButton(context: Context, preview: Preview) {
	const { choices } = context;
	const element = iconButton("point", "Point at an element", press);
	element.classList.add("anb-point");
	let inspector: ReturnType<typeof createInspector> | null = null;

	function press(): void {
		inspector ??= createInspector(context, preview);
		inspector.toggle(!inspector.on);
	}

	function usable({ state }: Snapshot): boolean {
		return isBound(context) && choices.moment === null && Boolean(shownPage(state, choices)?.text);
	}

	return {
		element,
		update(snapshot: Snapshot) {
			const can = usable(snapshot);
			element.hidden = choices.tab !== "preview";
			element.toggleAttribute("disabled", !can);
			if (!can) inspector?.toggle(false);
			inspector?.update();
			setAttribute(element, "aria-pressed", String(inspector?.on ?? false));
		},
	};
}
