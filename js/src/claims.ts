// Decides which kernel's hub an output belongs to. A page may hold several hubs (two notebooks, a restarted kernel).
// Each is loaded as a module of its own, and all of them see every output, so they share one table on the window.
//
// A cell stays with its hub while its output is redrawn. Another hub takes it over only with an output that has just
// appeared, for a newer run that is not on the page yet: the cell was run again on another kernel.

interface Claimant {
	/** True once its kernel is gone: then any other hub may take over. */
	readonly gone: boolean;
	unmount(element: Element): void;
}

interface Claim {
	by: Claimant;
	/** When the first message about the run arrived. */
	since: number;
	/** The output that is mounted now. */
	element: Element | null;
}

const TABLE = Symbol.for("agent_nb.claims");

function table(): WeakMap<Element, Claim> {
	const holder = window as unknown as Record<symbol, WeakMap<Element, Claim> | undefined>;
	holder[TABLE] ??= new WeakMap();
	return holder[TABLE];
}

/** The element that stays when an output is redrawn: its cell, or at least its parent. */
function placeOf(element: Element): Element {
	return element.closest(".jp-Cell, .jp-OutputArea") ?? element.parentElement ?? element;
}

/** Whether `by` may mount a run over an output; the first message about the run arrived at `since`. */
export function claim(element: Element, by: Claimant, since: number, takeOver: boolean): boolean {
	const place = placeOf(element);
	const known = table().get(place);
	if (known && known.by !== by) {
		if (!known.by.gone && (!takeOver || known.since >= since)) return false;
		if (known.element) known.by.unmount(known.element);
	}
	table().set(place, { by, since, element });
	return true;
}

export function release(element: Element, by: Claimant): void {
	const known = table().get(placeOf(element));
	if (known?.by === by && known.element === element) known.element = null;
}
