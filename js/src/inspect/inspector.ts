// Selects elements of the previewed page. An overlay captures the pointer and the keys, so the page does not notice and
// is not changed.

import type { ElementRef } from "../ask.ts";
import { isFile, isPath } from "../cell-source.ts";
import { h, hasFocus, listen, moveFocus, setAttribute, setText } from "../dom.ts";
import { shownPage } from "../shown.ts";
import { type Context, isBound, type Snapshot } from "../view/context.ts";
import { iconButton } from "../view/shared/buttons.ts";
import inside from "./inside.ts?bundle";
import { type ElementMatch, type ElementQuery, type PathStep, readMatch } from "./messages.ts";
import { wordsFor } from "./words.ts";

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
	const outline = createOutline(preview);
	const help = { class: "anb-inspect", tabindex: 0, role: "application", "aria-label": HELP, hidden: true };
	const element = h("div", help);
	const finder = createFinder(preview, (match, moved) => {
		outline.show(match);
		if (moved) context.announce(nameOf(match));
	});
	preview.element.append(element, outline.element);
	outline.follow(context.signal);
	const frame = element.closest<HTMLElement>(".anb-frame");

	/** With `keeps`, the outline stays, until `clear`. */
	function toggle(on: boolean, keeps = false): void {
		if (element.hidden === !on) return;
		const hadFocus = hasFocus(element);
		element.hidden = !on;
		if (hadFocus && frame) moveFocus(afterPointing(frame));
		if (!keeps) clear();
		if (on) element.focus({ preventScroll: true });
		context.redraw();
	}

	function clear(): void {
		outline.show(null);
		finder.forget();
	}

	function choose(event: MouseEvent | KeyboardEvent): void {
		if (!event.isTrusted || !finder.match) return;
		select(context, finder.match, event.shiftKey);
		if (!event.shiftKey) toggle(false, true);
	}

	listen(element, "pointerleave", context.signal, () => element.hidden || outline.show(null));
	listen(element, "click", context.signal, choose);
	listenForMoves(context, element, preview, finder.ask, choose);
	if (frame) listenForEscape(context, frame, element, toggle);
	return {
		get on() {
			return !element.hidden;
		},
		toggle,
		/** Removes the outline of an element without a note, or of a page that has been loaded again. */
		update(): void {
			if (element.hidden && (!context.choices.ask.notes.length || outline.isStale())) clear();
		},
	};
}

/** The button, or the field where the stage has it in its bar. */
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
		/** Restarts with the current page. */
		forget() {
			port?.close();
			[port, pending, next, match] = [null, 0, null, null];
		},
	};
}

/** The frame of the page and its scale on screen. */
function frameOf(preview: Preview) {
	const frame = [...preview.element.querySelectorAll("iframe")].at(-1) ?? null;
	const box = frame?.getBoundingClientRect() ?? new DOMRect();
	return { frame, box, scale: box.width / (frame?.offsetWidth || 1) || 1 };
}

function pointIn(preview: Preview, event: PointerEvent): ElementQuery {
	const { box, scale } = frameOf(preview);
	return { x: (event.clientX - box.left) / scale, y: (event.clientY - box.top) / scale };
}

function createOutline(preview: Preview) {
	const name = h("span");
	const element = h("div", { class: "anb-outline", "aria-hidden": "true", hidden: true }, name);
	let shown: { match: ElementMatch; frame: Element | null } | null = null;

	function show(match: ElementMatch | null): void {
		element.hidden = match === null;
		shown = null;
		if (!match) return;
		const { frame, box, scale } = frameOf(preview);
		const around = preview.element.getBoundingClientRect();
		const [x, y, width, height] = match.box.map((length) => length * scale) as unknown as ElementMatch["box"];
		const top = box.top - around.top + y;
		const left = box.left - around.left + x;
		Object.assign(element.style, { left: `${left}px`, top: `${top}px` });
		Object.assign(element.style, { width: `${width}px`, height: `${height}px` });
		element.classList.toggle("low", top < 22);
		setText(name, nameOf(match));
		shown = { match, frame };
	}

	return {
		element,
		show,
		/** Whether the outline is of a frame that has been replaced. */
		isStale: () => shown !== null && shown.frame !== frameOf(preview).frame,
		/** Keeps its place when the scale of the page changes. */
		follow(signal: AbortSignal) {
			const observer = new ResizeObserver(() => shown && show(shown.match));
			observer.observe(preview.element);
			signal.addEventListener("abort", () => observer.disconnect());
		},
	};
}

function nameOf({ steps, box }: ElementMatch): string {
	return `${steps.at(-1)?.[0]} ${Math.round(box[2])} × ${Math.round(box[3])}`;
}

/** Adds an element to the notes: to the last one with `more`, else to a new one. */
function select(context: Context, match: ElementMatch, more: boolean): void {
	const { choices, run } = context;
	const state = run.state?.variants.get(choices.variant);
	const page = state && shownPage(state, choices);
	if (!page || page.text === null) return;
	const steps = stepsInSource(page.text, match.steps);
	const path = pathOf(steps);
	if (!isPath(path) || !isFile(page.file.path)) return;
	const tag = match.steps.at(-1)?.[0] ?? "";
	const inSource = steps.length === match.steps.length;
	const around = wordsFor(steps.at(-1)?.[0] ?? "html");
	const label = inSource ? wordsFor(tag) : `${wordsFor(tag)} made by a script, in ${around}`;
	const pointed: ElementRef = { path, file: page.file.path, label, line: null, origin: "" };
	note(context, pointed, more);
	context.announce(`Selected: ${label}`);
	void locate(context, pointed, inSource ? tag : null);
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
	const element = iconButton(context, "point", "Point at an element", press);
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
