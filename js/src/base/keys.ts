// Decides which keys the widget handles. All others go to the notebook, so that its shortcuts work in the widget too.
//
// Lumino checks the ancestors of a key event's target for an attribute. From outside a shadow root the target is always
// the whole widget, so it cannot tell a field from a button. JupyterLab listens on the document, older versions in the
// capture phase. So the attribute is set or removed for each key, on the window.

/** Without it, Lumino treats a key as a notebook shortcut. */
const KEEP = "data-lm-suppress-shortcuts";
/** Goes to a question, from anywhere. Unused by JupyterLab and browsers, and types nothing. */
export const ANSWER_KEY = "F8";
/** On an element: the letters it handles while it has the focus, as shown on its buttons, and perhaps Ctrl+Enter. */
export const LETTERS = "data-letters";
/** Fields in which a letter is text, or chooses an entry. */
export const TYPING =
	"textarea, select, [contenteditable], input:not([type=range], [type=checkbox], [type=radio])";

const MOVING = "ArrowLeft ArrowRight ArrowUp ArrowDown Home End PageUp PageDown";
/** Unmodified keys that act on the focused element: they press, scroll, or move the focus within the widget. */
const PLAIN = new Set(`Tab Enter Escape ${MOVING}`.split(" ").concat(" "));
/** Keys that edit text when combined with Ctrl, Cmd or Alt. */
const EDITING = new Set(`a c v x y z Enter Backspace Delete ${MOVING}`.split(" "));

/** Hides the widget's keys from the notebook, and returns the focus to the cell on Escape or an outside click. */
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
	// A click on something unfocusable, such as the cell's prompt, would leave the focus in the widget.
	window.addEventListener(
		"pointerup",
		(event) => {
			if (!inside(event) && cellOf(surface)?.contains(event.target as Node)) leave(surface);
		},
		capture,
	);
	// JupyterLab intercepts Undo, Redo and line breaks anywhere in a cell.
	surface.shadowRoot?.addEventListener("beforeinput", (event) => event.stopPropagation(), { signal });
	signal.addEventListener("abort", () => surface.removeAttribute(KEEP));
}

/** Whether the focused part of the widget handles a key. */
export function isOwn(event: KeyboardEvent): boolean {
	const target = event.composedPath()[0] as Element;
	const { key } = event;
	const letter = key.length === 1 ? key.toLowerCase() : key;
	const typing = target.matches(TYPING);
	// AltGr types characters, and is reported as Ctrl+Alt.
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

/** Moves the focus from the widget, or from a frame outside of it, to its cell, or at least out of the widget. */
export function leave(surface: Element): void {
	const active = surface.shadowRoot ? surface.shadowRoot.activeElement : surface;
	if (!(active instanceof HTMLElement) || document.fullscreenElement) return;
	active.blur();
	cellOf(surface)?.focus({ preventScroll: true });
}

function cellOf(surface: Element): HTMLElement | null {
	return surface.closest<HTMLElement>(".jp-Cell");
}
