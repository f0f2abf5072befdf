// Scales the page of a preview: to the width of a device, or down to a thumbnail.

import type { Device } from "../../ui.ts";
import type { Context } from "../context.ts";

const WIDTHS: Record<Device, number | null> = { phone: 390, tablet: 768, full: null };
const MARGIN = 16;

/** With a `thumbnail` width, the page is laid out at least that wide and scaled down to the room there is. */
export function createScaling(
	{ choices, signal }: Context,
	stage: HTMLElement,
	page: HTMLElement,
	thumbnail: number | null,
) {
	let room = { width: 0, height: 0 };
	let text = "";

	function scaleTo(width: number, margin: number): number {
		const free = { width: room.width - 2 * margin, height: room.height - 2 * margin };
		const scale = Math.min(1, free.width / width);
		page.style.width = `${width}px`;
		page.style.height = `${free.height / scale}px`;
		page.style.transform = `scale(${scale})`;
		return scale;
	}

	function fitDevice(): void {
		const width = WIDTHS[choices.device];
		stage.classList.toggle("dev", width !== null);
		if (width === null || room.width === 0) {
			page.removeAttribute("style");
			text = "";
			return;
		}
		const scale = scaleTo(width, MARGIN);
		page.style.left = `${(room.width - width * scale) / 2}px`;
		page.style.top = `${MARGIN}px`;
		text = `${width} px at ${Math.round(scale * 100)} %`;
	}

	function update(): void {
		if (thumbnail === null) fitDevice();
		else if (room.width) scaleTo(Math.max(thumbnail, room.width), 0);
	}

	const observer = new ResizeObserver(([entry]) => {
		room = entry?.contentRect ?? room;
		update();
	});
	observer.observe(stage);
	signal.addEventListener("abort", () => observer.disconnect());

	/** "390 px at 63 %", or empty at full width. */
	return { update, text: () => text };
}
