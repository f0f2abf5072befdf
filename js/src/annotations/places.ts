// Where in a replay the annotations of a run are.

import type { Annotation } from "../events.ts";
import type { Tape } from "../tape.ts";
import type { Position } from "../ui.ts";

/** All annotations at one moment. */
export interface Place extends Position {
	readonly annotations: readonly Annotation[];
}

export function comparePositions(one: Position, other: Position): number {
	return one.count - other.count || one.time - other.time;
}

/** The places of one variant's annotations, in the order of the run. */
export function placesOf(annotations: readonly Annotation[], variant: number, tape: Tape): Place[] {
	const places = new Map<string, Place>();
	for (const annotation of annotations) {
		if (annotation.variant !== variant) continue;
		const position = positionOf(tape, annotation.at);
		const key = `${position.count} ${position.time}`;
		const others = places.get(key)?.annotations ?? [];
		places.set(key, { ...position, annotations: [...others, annotation] });
	}
	return [...places.values()].sort(comparePositions);
}

/** A replay begins at the end of the first moment, so nothing is before that. */
function positionOf(tape: Tape, at: Annotation["at"]): Position {
	const seconds = typeof at === "number" ? Math.min(at, tape.seconds) : null;
	const count = Math.max(tape.start, seconds === null ? countOf(tape, String(at)) : tape.countAt(seconds));
	return { count, time: Math.max(seconds ?? 0, tape.timeAt(count)) };
}

/** How many events have happened at `turn 2`, `change 3` or `end`. */
function countOf(tape: Tape, at: string): number {
	const [kind, number] = at.split(" ");
	let begun = false;
	let changes = 0;
	const index = tape.events.findIndex((event) => {
		if (event.type === "turn_started") {
			begun = true;
			return kind === "turn" && event.step === Number(number);
		}
		// What changed before the first turn was given to the run.
		if (event.type !== "file_changed" || !begun) return false;
		changes++;
		return kind === "change" && changes === Number(number);
	});
	return index < 0 ? tape.length : index + 1;
}
