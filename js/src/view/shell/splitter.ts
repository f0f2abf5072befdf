// The draggable lines between the panes and along the frame's bottom edge. Both positions are stored.

import { h, listen } from "../../dom.ts";
import { DEFAULT_SPLIT, loadLayout, saveLayout } from "../../ui.ts";
import type { Context } from "../context.ts";

export function createSplitter(context: Context, body: HTMLElement): HTMLElement {
	let share = loadLayout().split;
	const set = (percent: number | null): void => {
		share = percent ?? DEFAULT_SPLIT;
		body.style.setProperty("--anb-split", `${share}%`);
	};
	set(share);
	return createSeparator(context, body, {
		className: "anb-split",
		label: "Resize panes",
		orientation: "vertical",
		least: 25,
		most: 75,
		keys: { ArrowLeft: -2, ArrowRight: 2 },
		value: () => share,
		at(event) {
			const { left, width } = body.getBoundingClientRect();
			return (100 * (event.clientX - left)) / width;
		},
		set,
		save: () => saveLayout({ split: share }),
	});
}

export function createEdge(context: Context, frame: HTMLElement): HTMLElement {
	const set = (height: number | null): void =>
		frame.style.setProperty("--anb-height", height === null ? null : `${height}px`);
	set(loadLayout().height);
	return createSeparator(context, frame, {
		className: "anb-edge",
		label: "Resize height",
		orientation: "horizontal",
		least: 240,
		most: 4000,
		keys: { ArrowUp: -20, ArrowDown: 20, PageUp: -100, PageDown: 100 },
		value: () => frame.offsetHeight,
		at: (event) => event.clientY - frame.getBoundingClientRect().top,
		set,
		save: (height) => saveLayout({ height }),
	});
}

interface Line {
	readonly className: string;
	readonly label: string;
	readonly orientation: "horizontal" | "vertical";
	readonly least: number;
	readonly most: number;
	/** The step per key press. */
	readonly keys: Readonly<Record<string, number>>;
	value(): number;
	/** The value for a drag to this point. */
	at(event: PointerEvent): number;
	/** Null resets it. */
	set(value: number | null): void;
	save(value: number | null): void;
}

/** During a drag, `around` has the class `dragging`. */
function createSeparator({ signal }: Context, around: HTMLElement, line: Line): HTMLElement {
	const element = createElement(line);
	let moved: number | null | undefined;
	/** The offset between pointer and value, so that the line does not jump to the pointer. */
	let offset = 0;

	function show(): void {
		element.setAttribute("aria-valuenow", String(Math.round(line.value())));
	}
	function move(value: number | null): void {
		moved = value && Math.min(line.most, Math.max(line.least, value));
		line.set(moved);
		show();
	}
	function save(): void {
		if (moved !== undefined) line.save(moved);
	}
	show();

	listen(element, "focus", signal, show);
	listen(element, "pointerdown", signal, (event) => {
		element.setPointerCapture(event.pointerId);
		offset = line.value() - line.at(event);
		around.classList.add("dragging");
	});
	listen(element, "pointermove", signal, (event) => {
		if (element.hasPointerCapture(event.pointerId)) move(line.at(event) + offset);
	});
	listen(element, "lostpointercapture", signal, () => {
		around.classList.remove("dragging");
		save();
	});
	listen(element, "dblclick", signal, () => {
		move(null);
		save();
	});
	listen(element, "keydown", signal, (event) => {
		const by = line.keys[event.key];
		if (!by && event.key !== "Enter") return;
		event.preventDefault();
		move(by ? line.value() + by : null);
		save();
		element.scrollIntoView({ block: "nearest" });
	});
	return element;
}

function createElement({ className, label, orientation, least, most }: Line): HTMLElement {
	return h("div", {
		class: className,
		role: "separator",
		"aria-orientation": orientation,
		"aria-label": label,
		"aria-valuemin": least,
		"aria-valuemax": most,
		tabindex: 0,
	});
}
