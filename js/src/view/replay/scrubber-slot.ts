// The place of the scrubber. Its code is loaded when a replay is first opened.

import { h } from "../../dom.ts";
import type { Context, Snapshot } from "../context.ts";
import { createLatePart } from "../shared/late-part.ts";
import { keepReplay, leaveReplay } from "./replay.ts";
import type * as Scrubber from "./scrubber.ts";

export function createScrubberSlot(context: Context) {
	const { choices } = context;
	const element = h("div", { hidden: true });
	const wasOpen = choices.replay !== null;
	const draw = createLatePart<typeof Scrubber>(context, "scrubber", {
		wanted: () => choices.replay !== null,
		build: ({ createScrubber }) => createScrubber(context, element, wasOpen).update,
		fail() {
			choices.note = "The kernel did not answer, so the replay cannot be opened.";
			leaveReplay(context);
		},
	});
	return {
		element,
		update(snapshot: Snapshot) {
			keepReplay(context, snapshot);
			draw(snapshot);
		},
	};
}
