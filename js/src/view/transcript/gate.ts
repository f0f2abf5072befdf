// The gate of every card that lets code run: a press counts once the card is at rest and the whole call was in view.

import { setAttribute } from "../../base/dom.ts";
import { scrollAround } from "../../base/into-view.ts";
import type { Context } from "../context.ts";

/** Milliseconds that a card must not have moved before a press on it counts. */
const STILL_FOR = 500;
/** Poll interval for its position in milliseconds; each press checks too. */
const LOOK_EVERY = 100;

const MOVED = "The card has just appeared or moved.";
const UNSEEN = "Scroll to the end first, or press Show all.";

interface Gated {
	readonly card: HTMLElement;
	/** What the user decides about. */
	readonly call: HTMLElement;
	/** The buttons. */
	readonly answers: HTMLElement;
	/** `seen` is whether the end of the call was in view, or the user has expanded the call. */
	readonly draft: () => { seen: boolean };
	/** Draws whether presses count: whether the card is at rest, and whether its end has just come into view. */
	readonly draw: (still: boolean, isNew: boolean) => void;
}

export function createGate({ signal, notify }: Context, { card, call, answers, draft, draw }: Gated) {
	/** Whether the start of the card was in view; only then does its end count as seen. */
	let placed = false;
	const stillness = createStillness(answers, signal, (still) => {
		const { seen } = draft();
		draft().seen ||= placed && isEndInView(call, answers);
		draw(still, seen !== draft().seen);
	});
	return {
		...stillness,
		/** Begins anew, with another call. */
		ask(): void {
			placed = false;
			card.classList.remove("all");
			stillness.watch();
			requestAnimationFrame(() => {
				scrollToCard(card, call);
				card.classList.toggle("long", !isEndInView(call, answers));
				placed = true;
				stillness.check();
			});
		},
		/** Expands the frame, and leaves the card where the user has it. */
		showAll(): void {
			const { top } = card.getBoundingClientRect();
			card.classList.add("all");
			draft().seen = true;
			scrollAround(card, card.getBoundingClientRect().top - top);
		},
		/** Whether a press counts; if not, the user is told why. A refusal counts before the whole call was in view. */
		passes(byKey: boolean, isRefusal = false): boolean {
			const still = stillness.check(byKey);
			const passes = still && (draft().seen || isRefusal);
			if (!still) notify("The card had just appeared or moved, so that press did not count.");
			else if (!passes) notify(UNSEEN);
			return passes;
		},
	};
}

/** Enables a button, or says in its tooltip, which is also its description, why it is dim. */
export function drawGated(button: HTMLElement, still: boolean, seen: boolean): void {
	const why = !still ? MOVED : !seen ? UNSEEN : null;
	setAttribute(button, "aria-disabled", why && "true");
	setAttribute(button, "title", why);
}

/** Scrolls to the card without taking the focus: the user may be typing elsewhere. */
export function scrollToCard(card: HTMLElement, fields: HTMLElement): void {
	if (!card.isConnected) return;
	card.scrollIntoView?.({ block: "nearest" });
	// A card taller than its pane shows its beginning.
	fields.firstElementChild?.scrollIntoView?.({ block: "nearest" });
}

/** Whether no part of the call is below the window, under the buttons, or scrolled out of an editor. */
function isEndInView(call: HTMLElement, answers: HTMLElement): boolean {
	const { bottom } = call.getBoundingClientRect();
	const end = Math.min(answers.getBoundingClientRect().top, innerHeight);
	const editors = [...call.querySelectorAll(".anb-editor")];
	return (
		call.checkVisibility() &&
		bottom <= end + 1 &&
		editors.every((editor) => editor.scrollTop + editor.clientHeight >= editor.scrollHeight - 1)
	);
}

/** `onCheck` is called with whether the element is at rest. */
function createStillness(element: HTMLElement, signal: AbortSignal, onCheck: (still: boolean) => void) {
	let timer: ReturnType<typeof setInterval> | undefined;
	let place = "";
	let [since, appeared] = [0, 0];
	const unwatch = (): void => clearInterval(timer);
	signal.addEventListener("abort", unwatch, { once: true });

	/** Whether a press of a pointer or a key counts. */
	function check(byKey = false): boolean {
		const { left, top, width, height } = element.getBoundingClientRect();
		const now = performance.now();
		const before = place;
		place = [left, top, width, height].map(Math.round).join(" ");
		if (place !== before) since = now;
		const still = now - since >= STILL_FOR;
		onCheck(still);
		return byKey ? now - appeared >= STILL_FOR : still;
	}

	/** Restarts the wait: the element has appeared, or its content has changed. */
	function watch(): void {
		unwatch();
		timer = setInterval(check, LOOK_EVERY);
		appeared = performance.now();
		moved();
	}

	/** Restarts the wait for a pointer. */
	function moved(): void {
		place = "";
		check();
	}

	return { watch, moved, unwatch, check };
}
