// Arrow keys, Home and End in a group in which one item is chosen.

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
const ENDS: Record<string, number> = { Home: 0, End: -1 };

export function rove<T>(
	event: KeyboardEvent,
	all: readonly T[],
	current: T,
	choose: (item: T) => void,
): void {
	const step = STEPS[event.key];
	const next = step ? (Math.max(0, all.indexOf(current)) + step) % all.length : ENDS[event.key];
	if (next === undefined || all.length === 0) return;
	event.preventDefault();
	event.stopPropagation();
	choose(all.at(next) as T);
}
