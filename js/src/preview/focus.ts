// Keeps the focus where the user put it: when a page takes it by itself, it is given back.

/** Milliseconds between a press or Tab and the focus it causes at most; the frame is in another process. */
const DELAY = 500;
/** A page that takes the focus this often within this many milliseconds is stopped: keys would get lost. */
const GRABS = 3;
const WITHIN = 2000;

/**
 * A frame may take the focus when the pointer is on it, when Tab led there, or when it was pressed. Only the frame sees
 * a press, so call the returned function for it. `onGrabs` is called when the frame keeps taking the focus.
 */
export function guardFocus(frame: HTMLIFrameElement, signal: AbortSignal, onGrabs: () => void): () => void {
	let last = deepest();
	let [pressed, returned] = [-DELAY, -DELAY];
	let grabs: number[] = [];
	let tab: KeyboardEvent | null = null;
	const recently = (time: number): boolean => performance.now() - time < DELAY;

	function remember(): void {
		const now = deepest();
		if (now !== frame) last = now;
	}
	function onKey(event: KeyboardEvent): void {
		if (event.key === "Tab") tab = event;
	}
	function onBlur(): void {
		// An editor that indents with Tab has handled it.
		const tabbed = tab !== null && !tab.defaultPrevented && recently(tab.timeStamp);
		if (deepest() !== frame || frame.matches(":hover") || tabbed) return;
		// The browser ignores a change of focus during the event itself.
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
	// A move within one shadow root, or a click beside everything, fires no focus event here.
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
