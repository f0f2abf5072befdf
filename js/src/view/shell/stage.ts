// Connects a view of a run with the stage of its notebook: a button that opens it there, and its versions.

import { setAttribute, setText } from "../../base/dom.ts";
import { startText } from "../../run/ask.ts";
import { labExtension } from "../../run/cells.ts";
import { type Context, canRefer, type Snapshot } from "../context.ts";
import { momentsOf } from "../result/versions.ts";
import { textButton } from "../shared/buttons.ts";
import { headline } from "../shared/status.ts";
import { shownPage, shownTab, UNFINISHED } from "../shown.ts";
import { endedEarly } from "../transcript/end-card.ts";

export function createStageButton({ choices, run }: Context) {
	const element = textButton("", (press) => labExtension()?.show({ element, key: run.key }, press));
	element.classList.add("anb-onstage");
	element.title = "Show this run on the stage, beside the notebook";
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

/** Whether the stage shows nothing but the page and the field: its bar has the rest. */
function isSlim({ choices, run }: Context, { state }: Snapshot): boolean {
	const { details, replay, stage } = choices;
	if (stage !== "here" || replay || document.fullscreenElement || run.state?.lost) return false;
	return shownTab(choices, state) === "preview" && !(details ?? endedEarly(state));
}

/** Fits a view to the stage, and tells the stage, for its bar, what the view shows. */
export function createStageLink(context: Context, frame: HTMLElement, stop: (press: UIEvent) => void) {
	const { choices, run } = context;
	return (snapshot: Snapshot): void => {
		const slim = isSlim(context, snapshot);
		frame.classList.toggle("slim", slim);
		const stage = labExtension()?.stage(run.notebook);
		if (!stage) return;
		const { state, variants } = snapshot;
		const shown = shownPage(state, choices);
		const changes = shown ? momentsOf(state, shown).map(({ change }) => change) : [];
		const hasPage = shown !== null && (variants.length < 2 || choices.arrangement === "one");
		const pointer = frame.querySelector<HTMLElement>(":not([hidden]) > .anb-bar .anb-point:enabled");
		stage.setView(
			{ element: frame, key: run.key },
			{
				moments: changes.filter((change) => change !== UNFINISHED),
				moment: choices.moment === UNFINISHED ? null : choices.moment,
				next: canRefer(context) ? startText(run, choices) : null,
				phase: headline(snapshot).text,
				isBusy: run.busy,
				device: hasPage ? choices.device : null,
				details: !slim,
				points: pointer && pointer.ariaPressed === "true",
				set(change) {
					Object.assign(choices, change);
					if ("moment" in change) choices.file = shown?.file.path ?? null;
					if (change.details === false)
						Object.assign(choices, { tab: "preview", replay: null, request: null });
					context.redraw();
				},
				point: () => pointer?.click(),
				stop,
			},
		);
	};
}
