// The place of the notes of a run in its scrubber. Their code is loaded for a run that has some.

import type * as Module from "../../annotations/annotations.ts";
import { h } from "../../dom.ts";
import { loadModule } from "../../loading.ts";
import type { Replay } from "../../ui.ts";
import type { Context, Snapshot } from "../context.ts";
import type { Player } from "./player.ts";

export function createAnnotationSlot(context: Context, player: Player, track: HTMLElement) {
	const element = h("div");
	let asked = false;
	let view: Module.Annotations | null = null;

	async function load(): Promise<void> {
		let waiting = false;
		asked = true;
		// Nothing is played past a stop before the stops are known.
		player.stops = {
			between: (replay) => replay,
			insist() {
				waiting = true;
			},
		};
		const module = await loadModule<typeof Module>(context.run, "annotations").catch(() => null);
		view = module && new module.Annotations(context, player, track);
		player.stops = view;
		if (view) element.append(view.element);
		if (waiting) player.toggle();
		context.redraw();
	}

	return {
		element,
		update({ run }: Snapshot, replay: Replay | null) {
			if (run.meta.annotations?.length && !asked) void load();
			if (replay) view?.update(replay);
		},
	};
}
