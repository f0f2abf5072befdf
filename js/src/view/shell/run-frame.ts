// The frame of one run: header, variants, transcript and result, request, scrubber, field, folded transcript and footer.

import { createLazyView, h, setAttribute } from "../../base/dom.ts";
import { LETTERS } from "../../base/keys.ts";
import { type BodyView, type Context, INTERRUPTED, type Snapshot, viewsIn } from "../context.ts";
import { keepReplay } from "../replay/player.ts";
import { createScrubber } from "../replay/scrubber.ts";
import { createEdge } from "../shared/splitter.ts";
import { createReminder } from "../transcript/reminder.ts";
import { createRequest } from "../transcript/request.ts";
import { createPlace } from "../variants/arrangement.ts";
import { isFitted } from "../variants/single-variant.ts";
import { createStrip } from "../variants/strip.ts";
import { createComposer } from "./composer.ts";
import { createFooter } from "./footer.ts";
import { isFoldedAway, listenForFullScreen } from "./full-screen.ts";
import { createHeader } from "./header.ts";
import { createStageLink } from "./stage.ts";

export function createFrame(context: Context): BodyView {
	const header = createHeader(context);
	const { variants, request, scrubber } = createLazyParts(context);
	const below = viewsIn(context, "below").map((create) => create(context));
	const place = createPlace(context);
	const [composer, footer] = [createComposer(context), createFooter(context)];
	const parts = [header, variants, place, ...below, request, scrubber, composer, footer];
	const element = h("section", { class: "anb-frame" }, ...parts.map((part) => part.element));
	footer.element.before(place.below);
	element.append(createEdge(element));
	listenForFullScreen(context, element);
	const forgetNote = createForgetNote(context);
	const remind = createReminder(context, element);
	const tellStage = createStageLink(context, element, header.stop);

	return {
		element,
		update(snapshot) {
			forgetNote(snapshot);
			remind(snapshot);
			keepReplay(context, snapshot);
			drawFrame(context, element, snapshot);
			const keepEnd = fitHeight(element, snapshot.variants.length === 1 && isFitted(context));
			element.classList.toggle("halted", context.choices.replay?.playing === false);
			for (const part of parts) part.update(snapshot);
			tellStage(snapshot);
			keepEnd();
		},
		tick(snapshot) {
			remind(snapshot); // the header may tell of one before the next update
			header.update(snapshot);
			variants.update(snapshot);
			place.tick(snapshot);
			tellStage(snapshot);
		},
	};
}

/** The parts that most runs never show. */
function createLazyParts(context: Context) {
	const { choices } = context;
	const wasOpen = choices.replay !== null;
	return {
		variants: createLazyView(
			(snapshot: Snapshot) => snapshot.variants.length > 1,
			() => createStrip(context),
		),
		request: createLazyView(
			() => choices.request !== null,
			() => createRequest(context),
		),
		scrubber: createLazyView(
			() => choices.replay !== null,
			() => createScrubber(context, wasOpen),
		),
	};
}

function drawFrame(context: Context, frame: HTMLElement, { run: { meta } }: Snapshot): void {
	const where = context.choices.stage === "here" ? " on the stage" : "";
	frame.setAttribute("aria-label", `agent run ${meta.name}${where}`);
	frame.classList.toggle("shut", isFoldedAway(context));
	setAttribute(frame, LETTERS, lettersOf(context));
}

/** The letters that the frame handles. */
function lettersOf(context: Context): string {
	if (isFoldedAway(context)) return "/";
	return isFitted(context) ? "/ f" : "/ f i";
}

/** Sets whether the frame is as high as its transcript. Returns a function that keeps its end in view. */
function fitHeight(frame: HTMLElement, fits: boolean): () => void {
	const sawEnd = fits && !frame.classList.contains("fit") && isEndInSight(frame);
	frame.classList.toggle("fit", fits);
	return () => {
		if (sawEnd && !isEndInSight(frame)) frame.scrollIntoView({ block: "end" });
	};
}

function isEndInSight(element: HTMLElement): boolean {
	const { bottom } = element.getBoundingClientRect();
	return bottom > 0 && bottom <= innerHeight;
}

/** Clears the note about a failed command when the run ends, and when the kernel sets the names again. */
function createForgetNote({ run, choices }: Context): (snapshot: Snapshot) => void {
	let busy = run.busy;
	let ready = run.state?.ready;
	return (snapshot) => {
		const isOver = (busy && !run.busy) || snapshot.run.ready !== ready;
		if (isOver && choices.note !== INTERRUPTED) choices.note = "";
		busy = run.busy;
		ready = snapshot.run.ready;
	};
}
