// The frame of one run: header, variants, transcript and result, request, scrubber and footer.

import { h, icon } from "../dom.ts";
import { loadLayout, saveLayout } from "../ui.ts";
import type { BodyView, Context, Moment } from "./context.ts";
import { createFooter } from "./footer.ts";
import { createHeader } from "./header.ts";
import { createPlace } from "./place.ts";
import { createRequest } from "./request.ts";
import { createScrubber } from "./scrubber.ts";
import { isSolo } from "./single.ts";
import { createVariants } from "./variants.ts";

export function createFrame(context: Context): BodyView {
	const header = createHeader(context);
	const variants = createVariants(context);
	const place = createPlace(context);
	const request = createRequest(context);
	const scrubber = createScrubber(context);
	const footer = createFooter(context);
	const parts = [header, variants, place, scrubber, request, footer];
	const element = h(
		"section",
		{ class: "anb-frame" },
		header.element,
		variants.element,
		place.element,
		request.element,
		scrubber.element,
		footer.element,
		createGrip(),
	);
	rememberHeight(element, context.signal);
	const forgetNote = createForgetNote(context);

	return {
		element,
		update(moment) {
			forgetNote(moment);
			element.setAttribute("aria-label", `agent run ${moment.run.meta.name}`);
			element.classList.toggle("fit", moment.options.length === 1 && isSolo(context));
			element.classList.toggle("halted", context.choices.replay?.playing === false);
			for (const part of parts) part.update(moment);
		},
		tick(moment) {
			header.update(moment);
			variants.update(moment);
			place.tick(moment);
		},
	};
}

/** A note about a command ends with the run, and when the kernel binds names anew. */
function createForgetNote({ run, choices }: Context): (moment: Moment) => void {
	let busy = run.busy;
	let ready = run.state?.ready;
	return (moment) => {
		if ((busy && !run.busy) || moment.run.ready !== ready) choices.note = "";
		busy = run.busy;
		ready = moment.run.ready;
	};
}

function createGrip(): SVGSVGElement {
	const grip = icon("grip", "anb-grip");
	grip.setAttribute("viewBox", "0 0 10 10");
	return grip;
}

/** The height the person drags the frame to holds for the next run, too. */
function rememberHeight(frame: HTMLElement, signal: AbortSignal): void {
	const { height } = loadLayout();
	if (height) frame.style.setProperty("--anb-height", `${height}px`);
	const observer = new ResizeObserver(() => {
		// The browser writes the dragged height into the style; nobody else does.
		const dragged = Number.parseInt(frame.style.height, 10);
		if (dragged) saveLayout({ height: dragged });
	});
	observer.observe(frame);
	signal.addEventListener("abort", () => observer.disconnect());
}
