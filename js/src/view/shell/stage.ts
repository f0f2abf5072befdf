// Connects a view of a run with the stage of its notebook: a button that opens it there, and its versions.

import { startText } from "../../ask.ts";
import { labExtension } from "../../cells.ts";
import { h, listen, setAttribute, setText } from "../../dom.ts";
import { shownPage, UNFINISHED } from "../../shown.ts";
import { type Context, canRefer, type Snapshot } from "../context.ts";
import { momentsOf } from "../result/versions.ts";

export function createStageButton({ choices, run, signal }: Context) {
	const title = "Show this run on the stage, beside the notebook";
	const element = h("button", { class: "anb-btn sm anb-onstage", title });
	listen(element, "click", signal, (press) => labExtension()?.show({ element, key: run.key }, press));
	return {
		element,
		update() {
			const isPossible = run.greeted && run.notebook !== null && labExtension()?.hasStages;
			element.hidden = !isPossible || choices.stage === "here";
			setText(element, choices.stage === "shown" ? "On stage" : "Stage");
			setAttribute(element, "aria-pressed", String(choices.stage === "shown"));
		},
	};
}

/** Reports the versions of the page to the stage, for its history. */
export function tellStage(context: Context, { state }: Snapshot, element: Element): void {
	const { choices, run } = context;
	const stage = labExtension()?.stage(run.notebook);
	if (!stage) return;
	const shown = shownPage(state, choices);
	const changes = shown ? momentsOf(state, shown).map(({ change }) => change) : [];
	stage.setVersions(
		{ element, key: run.key },
		{
			moments: changes.filter((change) => change !== UNFINISHED),
			moment: choices.moment === UNFINISHED ? null : choices.moment,
			next: canRefer(context) ? startText(run, choices) : null,
			choose(moment) {
				Object.assign(choices, { moment, file: shown?.file.path ?? null });
				context.redraw();
			},
		},
	);
}
