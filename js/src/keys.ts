// Which keys typed in the widget are its own. The notebook gets all others, so that its shortcuts work there too.
//
// Lumino looks for an attribute around the target of a key, which from outside of a shadow root is always the whole
// widget: it cannot know a field from a button. JupyterLab listens at the document, older versions before anyone else
// hears of the key. So the attribute is set or removed for each key, at the window.

/** Without it, Lumino takes a key for one of the notebook's shortcuts. */
const KEEP = "data-lm-suppress-shortcuts";
/** On an element: the letters that it takes while the focus is in it, which its buttons show, and perhaps Ctrl+Enter. */
export const LETTERS = "data-letters";
/** Fields in which a letter is text, or chooses an entry. */
export const TYPING =
	"textarea, select, [contenteditable], input:not([type=range], [type=checkbox], [type=radio])";

const MOVING = "ArrowLeft ArrowRight ArrowUp ArrowDown Home End PageUp PageDown";
/** Plain keys that act on what has the focus: they press, scroll, or go to something else in the widget. */
const PLAIN = new Set(`Tab Enter Escape ${MOVING}`.split(" ").concat(" "));
/** Keys that edit text together with Ctrl, Cmd or Alt. */
const EDITING = new Set(`a c v x y z Enter Backspace Delete ${MOVING}`.split(" "));

/** Keeps the widget's own keys from the notebook, and gives the focus back to the cell with Escape or a click beside it. */
export function watchKeys(surface: Element, signal: AbortSignal): void {
	const inside = (event: Event): boolean => event.composedPath().includes(surface);
	const capture = { signal, capture: true };
	window.addEventListener(
		"keydown",
		(event) => {
			if (inside(event)) surface.toggleAttribute(KEEP, isOwn(event));
		},
		capture,
	);
	surface.addEventListener("keydown", (event) => onEscape(event as KeyboardEvent, surface), { signal });
	// A click on something that takes no focus, such as the prompt of the cell, would leave it in the widget.
	window.addEventListener(
		"pointerup",
		(event) => {
			if (!inside(event) && cellOf(surface)?.contains(event.target as Node)) leave(surface);
		},
		capture,
	);
	// JupyterLab takes Undo, Redo and line breaks away from anything in a cell when it hears of them.
	surface.shadowRoot?.addEventListener("beforeinput", (event) => event.stopPropagation(), { signal });
	signal.addEventListener("abort", () => surface.removeAttribute(KEEP));
}

/** Whether a key means something to the part of the widget that has the focus. */
export function isOwn(event: KeyboardEvent): boolean {
	const target = event.composedPath()[0] as Element;
	const { key } = event;
	const letter = key.length === 1 ? key.toLowerCase() : key;
	const typing = target.matches(TYPING);
	// AltGr types characters, and counts as Ctrl and Alt.
	const chord = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
	if (chord) return typing ? EDITING.has(letter) : takes(target, `Ctrl+${key}`);
	if (typing) return !/^F\d/.test(key);
	if (PLAIN.has(key)) return !(event.shiftKey && key === "Enter");
	return takes(target, letter);
}

function takes(target: Element, key: string): boolean {
	return target.closest(`[${LETTERS}~="${CSS.escape(key)}"]`) !== null;
}

function onEscape(event: KeyboardEvent, surface: Element): void {
	if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing) leave(surface);
}

/** Moves the focus from the widget to its cell, or at least out of the widget. */
export function leave(surface: Element): void {
	const active = surface.shadowRoot?.activeElement;
	if (!(active instanceof HTMLElement) || document.fullscreenElement) return;
	active.blur();
	cellOf(surface)?.focus({ preventScroll: true });
}

function cellOf(surface: Element): HTMLElement | null {
	return surface.closest<HTMLElement>(".jp-Cell");
}
