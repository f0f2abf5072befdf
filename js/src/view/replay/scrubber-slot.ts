// The place of the scrubber. Its code is loaded when a replay is first opened.

import { h } from "../../dom.ts";
import { knownModule, loadModule, type Scrubber } from "../../loading.ts";
import type { Context, Snapshot } from "../context.ts";
import { keepReplay, leaveReplay } from "./replay.ts";

export function createScrubberSlot(context: Context) {
	const { choices } = context;
	const element = h("div", { hidden: true });
	const wasOpen = choices.replay !== null;
	let scrubber: ReturnType<Scrubber["createScrubber"]> | null = null;
	let asked = false;

	function mount({ createScrubber }: Scrubber): void {
		scrubber = createScrubber(context, element, wasOpen);
	}

	async function load(): Promise<void> {
		asked = true;
		const module = await loadModule(context.run, "scrubber").catch(() => null);
		asked = false;
		if (context.signal.aborted) return;
		if (module) {
			mount(module);
			context.redraw();
		} else {
			choices.note = "The kernel did not answer, so the replay cannot be opened.";
			leaveReplay(context);
		}
	}

	return {
		element,
		update(snapshot: Snapshot) {
			keepReplay(context, snapshot);
			const known = choices.replay && !scrubber ? knownModule("scrubber") : null;
			if (known) mount(known);
			if (scrubber) scrubber.update(snapshot);
			else if (choices.replay && !asked) void load();
		},
	};
}
