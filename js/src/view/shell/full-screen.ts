// Full-screen mode, by a button in the header, and the frame's keyboard shortcuts. Escape leaves it.

import { listen, setAttribute, setLabel } from "../../base/dom.ts";
import { LETTERS, TYPING } from "../../base/keys.ts";
import { COMPOSE } from "../../run/lab.ts";
import type { Context, Snapshot } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";

export function createFullScreenButton(context: Context) {
	const element = iconButton("expand", "", () => toggle(context, element));
	element.classList.add("anb-full");
	document.addEventListener("fullscreenchange", context.redraw, { signal: context.signal });
	return {
		element,
		update(_snapshot: Snapshot) {
			const label = isFull(element) ? "Leave full screen" : "Full screen";
			element.hidden = !document.fullscreenEnabled;
			setLabel(element, label);
		},
	};
}

/** Keys act only while the focus is in the widget, and not in a field. JupyterLab's `/` on the cell is an event. */
export function listenForFullScreen(context: Context, frame: HTMLElement): void {
	frame.addEventListener(COMPOSE, () => compose(context, frame), { signal: context.signal });
	listen(frame, "keydown", context.signal, (event) => {
		if (!isPlain(event)) return;
		const typing = (event.target as Element).closest(TYPING);
		const key = !typing && frame.getAttribute(LETTERS)?.includes(event.key) ? event.key : "";
		if (key === "/") {
			event.preventDefault();
			compose(context, frame);
		}
		if (key === "i")
			frame.querySelector<HTMLElement>(":not([hidden]) > .anb-bar .anb-point:enabled")?.click();
		// Chromium usually leaves by itself, without this event.
		if (key === "f" || (event.key === "Escape" && isFull(frame))) toggle(context, frame);
	});
}

function isPlain(event: KeyboardEvent): boolean {
	return !(event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented);
}

/** Moves the focus to the field for a change request, and unfolds the run for it. */
function compose(context: Context, frame: HTMLElement): void {
	if (isFoldedAway(context)) {
		context.choices.folded = false;
		context.draw();
	}
	frame.querySelector<HTMLElement>(".anb-compose:not([hidden]) .anb-askrow textarea")?.focus();
}

function toggle({ notify }: Context, inside: HTMLElement): void {
	if (isFull(inside)) void document.exitFullscreen();
	else
		inside
			.closest(".anb")
			?.requestFullscreen?.()
			.catch(() => notify("Full screen is not allowed here."));
}

export function isFull(inside: HTMLElement): boolean {
	const { fullscreenElement } = inside.getRootNode() as ShadowRoot;
	return Boolean(fullscreenElement) && fullscreenElement === inside.closest(".anb");
}

/**
 * Whether a finished run is folded to its header: by a button, all but the newest by a setting, and all while the
 * notebook has a stage. The run on the stage is folded even while it is active: its questions are shown there.
 */
export function isFoldedAway({ choices: { stage, folded }, run }: Context): boolean {
	if (stage === "here" || (run.busy && stage !== "shown")) return false;
	return folded ?? (stage !== null || run.newer?.folds === true);
}

export function createFoldButton(context: Context) {
	const element = iconButton("down", "", () => {
		context.choices.folded = !isFoldedAway(context);
		context.redraw();
	});
	element.classList.add("anb-shut");
	return {
		element,
		update() {
			const folded = isFoldedAway(context);
			// A replay file has one run and no kernel.
			element.hidden = !context.run.greeted || context.choices.stage === "here";
			element.toggleAttribute("disabled", context.run.busy && context.choices.stage !== "shown");
			setAttribute(element, "aria-expanded", String(!folded));
			setLabel(element, folded ? "Unfold this run" : "Fold this run to one line");
		},
	};
}
