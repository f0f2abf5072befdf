// The draggable lines between the panes and along the frame's bottom edge. Both positions are stored.

import { h } from "../../base/dom.ts";
import { DEFAULT_SPLIT, loadLayout, saveLayout } from "../choices.ts";

export function createSplitter(body: HTMLElement): HTMLElement {
	let share = loadLayout().split;
	const set = (percent: number | null): void => {
		share = percent ?? DEFAULT_SPLIT;
		body.style.setProperty("--anb-split", `${share}%`);
	};
	set(share);
	return createSeparator(body, {
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

export function createEdge(frame: HTMLElement): HTMLElement {
	const set = (height: number | null): void =>
		frame.style.setProperty("--anb-height", height === null ? null : `${height}px`);
	set(loadLayout().height);
	return createSeparator(frame, {
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
function createSeparator(around: HTMLElement, line: Line): HTMLElement {
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

	element.onfocus = show;
	element.onpointerdown = (event) => {
		element.setPointerCapture(event.pointerId);
		offset = line.value() - line.at(event);
		around.classList.add("dragging");
	};
	element.onpointermove = (event) => {
		if (element.hasPointerCapture(event.pointerId)) move(line.at(event) + offset);
	};
	element.onlostpointercapture = () => {
		around.classList.remove("dragging");
		save();
	};
	element.ondblclick = () => {
		move(null);
		save();
	};
	element.onkeydown = (event) => {
		const by = line.keys[event.key];
		if (!by && event.key !== "Enter") return;
		event.preventDefault();
		move(by ? line.value() + by : null);
		save();
		element.scrollIntoView({ block: "nearest" });
	};
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
