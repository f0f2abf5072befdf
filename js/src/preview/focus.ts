// The keyboard stays where the person put it: a page that takes the focus by itself gives it back.

/** How long a press or Tab may be ahead of the focus it leads to: the frame is in another process. */
const LASTS = 500;

/**
 * A frame takes the focus rightly when the pointer is on it, when Tab led there, or when it was pressed. The result is
 * to be called for a press, which only the frame sees.
 */
export function guardFocus(frame: HTMLIFrameElement, signal: AbortSignal): () => void {
	let last = deepest();
	let [tabbed, pressed, returned] = [-LASTS, -LASTS, -LASTS];
	const recently = (time: number): boolean => performance.now() - time < LASTS;

	function remember(): void {
		const now = deepest();
		if (now !== frame) last = now;
	}
	function onKey(event: KeyboardEvent): void {
		if (event.key === "Tab") tabbed = performance.now();
	}
	function onBlur(): void {
		if (deepest() !== frame || frame.matches(":hover") || recently(tabbed)) return;
		// Within the event itself the browser would not listen.
		setTimeout(giveBack);
	}
	function giveBack(): void {
		if (recently(pressed)) return;
		returned = performance.now();
		frame.blur();
		window.focus();
		if (last instanceof HTMLElement) last.focus({ preventScroll: true });
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
