// Arrow keys, Home and End in a group in which one item is chosen.

const MOVES: Record<string, (at: number, last: number) => number> = {
	ArrowRight: (at, last) => (at === last ? 0 : at + 1),
	ArrowDown: (at, last) => (at === last ? 0 : at + 1),
	ArrowLeft: (at, last) => (at === 0 ? last : at - 1),
	ArrowUp: (at, last) => (at === 0 ? last : at - 1),
	Home: () => 0,
	End: (_at, last) => last,
};

export function rove<T>(
	event: KeyboardEvent,
	all: readonly T[],
	current: T,
	choose: (item: T) => void,
): void {
	const move = MOVES[event.key];
	if (!move || all.length === 0) return;
	event.preventDefault();
	event.stopPropagation();
	choose(all[move(Math.max(0, all.indexOf(current)), all.length - 1)] as T);
}
