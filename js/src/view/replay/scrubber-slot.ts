// The place of the scrubber. Its code is loaded when a replay is first opened.

import type { Context, Snapshot } from "../context.ts";
import { createLateView } from "../shared/late-part.ts";
import { keepReplay, leaveReplay } from "./replay.ts";
import type * as Scrubber from "./scrubber.ts";

export function createScrubberSlot(context: Context) {
	const { choices } = context;
	const wasOpen = choices.replay !== null;
	const { element, update } = createLateView<typeof Scrubber>(context, "scrubber", {
		wanted: () => choices.replay !== null,
		create: ({ createScrubber }) => createScrubber(context, wasOpen),
		fail() {
			choices.note = "The kernel did not answer, so the replay cannot be opened.";
			leaveReplay(context);
		},
	});
	return {
		element,
		update(snapshot: Snapshot) {
			keepReplay(context, snapshot);
			update(snapshot);
		},
	};
}
