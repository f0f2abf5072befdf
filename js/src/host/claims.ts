// Decides which kernel's hub an output belongs to. A page may have several hubs (two notebooks, a restarted kernel).
// Each is loaded as a separate module and sees every output, so they share one table on the window.
//
// A cell keeps its hub while its output is redrawn. Another hub takes over only if a new output appears for a newer run
// that is not on the page yet: the cell was run again on another kernel.

interface Claimant {
	/** True once its kernel is gone: any other hub may then take over. */
	readonly gone: boolean;
	unmount(element: Element): void;
}

interface Claim {
	by: Claimant;
	/** When the first message about the run arrived. */
	since: number;
	/** The mounted output. */
	element: Element | null;
}

const TABLE = Symbol.for("agent_nb.claims");

function table(): WeakMap<Element, Claim> {
	const holder = window as unknown as Record<symbol, WeakMap<Element, Claim> | undefined>;
	holder[TABLE] ??= new WeakMap();
	return holder[TABLE];
}

/** The element that survives when an output is redrawn: its cell, or else its parent. */
function placeOf(element: Element): Element {
	return element.closest(".jp-Cell, .jp-OutputArea") ?? element.parentElement ?? element;
}

/** Whether `by` may mount a run over an output; the first message about the run arrived at `since`. */
export function claim(element: Element, by: Claimant, since: number, takeOver: boolean): boolean {
	const place = placeOf(element);
	const holder = table().get(place);
	if (holder && holder.by !== by) {
		if (!holder.by.gone && (!takeOver || holder.since >= since)) return false;
		if (holder.element) holder.by.unmount(holder.element);
	}
	table().set(place, { by, since, element });
	return true;
}

export function release(element: Element, by: Claimant): void {
	const holder = table().get(placeOf(element));
	if (holder?.by === by && holder.element === element) holder.element = null;
}
