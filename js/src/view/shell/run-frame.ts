// The frame of one run: header, variants, transcript and result, request, scrubber and footer.

import { h, setAttribute } from "../../dom.ts";
import { LETTERS } from "../../keys.ts";
import { loadModule } from "../../loading.ts";
import { questionsOf } from "../../questions.ts";
import type { BodyView, Context, Snapshot } from "../context.ts";
import { createScrubberSlot } from "../replay/scrubber-slot.ts";
import { createAnswerKey } from "../transcript/approval-key.ts";
import { createRequest } from "../transcript/request.ts";
import { createPlace } from "../variants/arrangement.ts";
import { isFitted } from "../variants/single-variant.ts";
import { createStrip } from "../variants/strip.ts";
import { createComposer } from "./composer.ts";
import { createFooter } from "./footer.ts";
import { listenForFullScreen } from "./full-screen.ts";
import { createHeader } from "./header.ts";
import { createEdge } from "./splitter.ts";

export function createFrame(context: Context): BodyView {
	const header = createHeader(context);
	const variants = createStrip(context);
	const place = createPlace(context);
	const request = createRequest(context);
	const scrubber = createScrubberSlot(context);
	const composer = createComposer(context);
	const footer = createFooter(context);
	const parts = [header, variants, place, scrubber, request, composer, footer];
	const element = h(
		"section",
		{ class: "anb-frame" },
		header.element,
		variants.element,
		place.element,
		request.element,
		scrubber.element,
		composer.element,
		footer.element,
	);
	element.append(createEdge(context, element));
	listenForFullScreen(context, element);
	const forgetNote = createForgetNote(context);
	const findQuestion = createAnswerKey(context, element);
	const remind = createLateReminder(context, element);

	return {
		element,
		update(snapshot) {
			forgetNote(snapshot);
			findQuestion(snapshot);
			remind(snapshot);
			element.setAttribute("aria-label", `agent run ${snapshot.run.meta.name}`);
			setAttribute(element, LETTERS, isFitted(context) ? "/" : "/ f i");
			const keepEnd = fitHeight(element, snapshot.variants.length === 1 && isFitted(context));
			element.classList.toggle("halted", context.choices.replay?.playing === false);
			for (const part of parts) part.update(snapshot);
			keepEnd();
		},
		tick(snapshot) {
			header.update(snapshot);
			variants.update(snapshot);
			place.tick(snapshot);
		},
	};
}

/** Loads what leads to a question that is not on screen, with the first question. */
function createLateReminder(context: Context, frame: HTMLElement): (snapshot: Snapshot) => void {
	let remind: ((snapshot: Snapshot) => void) | null = null;
	let asked = false;
	return (snapshot) => {
		if (remind) remind(snapshot);
		else if (!asked && questionsOf(snapshot.variants).length > 0) {
			asked = true;
			loadModule(context.run, "reminder").then(
				(module) => {
					remind = module.createReminder(context, frame);
					context.redraw();
				},
				() => {}, // the kernel did not send it; the card is there all the same
			);
		}
	};
}

/** Gives the frame the height of its transcript, or not. Returns a function that keeps its end in sight, if it was. */
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

/** Clears the note about a command when the run ends, and when the kernel binds the names again. */
function createForgetNote({ run, choices }: Context): (snapshot: Snapshot) => void {
	let busy = run.busy;
	let ready = run.state?.ready;
	return (snapshot) => {
		if ((busy && !run.busy) || snapshot.run.ready !== ready) choices.note = "";
		busy = run.busy;
		ready = snapshot.run.ready;
	};
}
