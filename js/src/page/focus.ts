// Keeps frames from taking the keyboard focus from the document around them.

/** Maximum milliseconds between a press or Tab and the focus it causes; the frame is in another process. */
const DELAY = 500;
/** A page that takes the focus this often within this many milliseconds is stopped: it would steal key presses. */
const GRABS = 3;
const WITHIN = 2000;

/**
 * Restores the focus that a guarded frame takes, unless the pointer is over it, or the user has tabbed to it or pressed
 * in it. Only the frame sees a press, so call the returned function for it. `onGrabs` is called with a frame that keeps
 * taking the focus.
 */
export function guardFocus(
	isGuarded: (element: Element) => boolean,
	signal: AbortSignal,
	onGrabs: (frame: HTMLElement) => void,
): () => void {
	let last = deepest();
	/** The frame that has taken the focus. */
	let frame: HTMLElement | null = null;
	let [pressed, returned] = [-DELAY, -DELAY];
	let grabs: number[] = [];
	let tab: KeyboardEvent | null = null;
	const recently = (time: number): boolean => performance.now() - time < DELAY;

	function remember(): void {
		const now = deepest();
		if (!now || !isGuarded(now)) last = now;
	}
	function onKey(event: KeyboardEvent): void {
		if (event.key === "Tab") tab = event;
	}
	function onBlur(): void {
		// An editor that indents with Tab has already handled it.
		const tabbed = tab !== null && !tab.defaultPrevented && recently(tab.timeStamp);
		const active = deepest();
		if (!active || !isGuarded(active) || active.matches(":hover") || tabbed) return;
		frame = active;
		// The browser ignores a change of focus during the event itself.
		setTimeout(giveBack);
	}
	function giveBack(): void {
		if (!frame || recently(pressed)) return;
		returned = performance.now();
		frame.blur();
		window.focus();
		last?.focus({ preventScroll: true });
		grabs = [...grabs.filter((time) => returned - time < WITHIN), returned];
		if (grabs.length >= GRABS) onGrabs(frame);
	}
	// A focus change within a shadow root, or a click on nothing focusable, fires no focus event here.
	for (const name of ["focusin", "keyup", "pointerup"])
		window.addEventListener(name, remember, { signal, capture: true });
	window.addEventListener("keydown", onKey, { signal, capture: true });
	window.addEventListener("blur", onBlur, { signal });
	return () => {
		pressed = performance.now();
		if (recently(returned)) frame?.focus();
	};
}

/** Whether a press shows by `:hover`. A frame without our script does not report presses, and a tap may not show. */
export const hovers = (): boolean => matchMedia("(hover: hover)").matches;

/** The focused element, including inside nested shadow roots. */
function deepest(): HTMLElement | null {
	let active = document.activeElement;
	while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
	return active instanceof HTMLElement && active !== document.body ? active : null;
}
