// A part of the frame that is built when it is first wanted, and in its place from then on.

import { h } from "../../dom.ts";
import type { Snapshot } from "../context.ts";

interface Part {
	readonly element: HTMLElement;
	update(snapshot: Snapshot): void;
}

export function createLazyView(wanted: (snapshot: Snapshot) => boolean, create: () => Part): Part {
	const element = h("div", { hidden: true });
	let part: Part | null = null;
	return {
		element,
		update(snapshot) {
			if (!part && wanted(snapshot)) {
				part = create();
				element.replaceWith(part.element);
			}
			part?.update(snapshot);
		},
	};
}
