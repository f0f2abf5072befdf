// The keyboard stays where the person put it: a page that takes the focus by itself gives it back.

/** How long a press or Tab may be ahead of the focus it leads to: the frame is in another process. */
const LASTS = 500;
/** A page that takes the focus so often within so many milliseconds means to: keys would be lost on the way back. */
const GRABS = 3;
const WITHIN = 2000;

/**
 * A frame takes the focus rightly when the pointer is on it, when Tab led there, or when it was pressed. The result is
 * to be called for a press, which only the frame sees; `onGrabs` is called when it has taken it again and again.
 */
export function guardFocus(frame: HTMLIFrameElement, signal: AbortSignal, onGrabs: () => void): () => void {
	let last = deepest();
	let [pressed, returned] = [-LASTS, -LASTS];
	let grabs: number[] = [];
	let tab: KeyboardEvent | null = null;
	const recently = (time: number): boolean => performance.now() - time < LASTS;

	function remember(): void {
		const now = deepest();
		if (now !== frame) last = now;
	}
	function onKey(event: KeyboardEvent): void {
		if (event.key === "Tab") tab = event;
	}
	function onBlur(): void {
		// An editor that indents with Tab has used it up.
		const tabbed = tab !== null && !tab.defaultPrevented && recently(tab.timeStamp);
		if (deepest() !== frame || frame.matches(":hover") || tabbed) return;
		// Within the event itself the browser would not listen.
		setTimeout(giveBack);
	}
	function giveBack(): void {
		if (recently(pressed)) return;
		returned = performance.now();
		frame.blur();
		window.focus();
		if (last instanceof HTMLElement) last.focus({ preventScroll: true });
		grabs = [...grabs.filter((time) => returned - time < WITHIN), returned];
		if (grabs.length >= GRABS) onGrabs();
	}
	// Moves within one shadow root, and clicks beside everything, show in the keys and the pointer alone.
	for (const name of ["focusin", "keyup", "pointerup"])
		window.addEventListener(name, remember, { signal, capture: true });
	window.addEventListener("keydown", onKey, { signal, capture: true });
	window.addEventListener("blur", onBlur, { signal });
	return () => {
		pressed = performance.now();
		if (recently(returned)) frame.focus();
	};
}

/** What has the focus, however deep in shadow roots. */
function deepest(): Element | null {
	let active = document.activeElement;
	while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
	return active === document.body ? null : active;
}
