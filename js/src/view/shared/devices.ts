// The buttons that set the width of the page.

import { type Device, WIDTHS } from "../../device.ts";
import type { IconName } from "../../icons.ts";
import type { Context } from "../context.ts";
import { createRadios } from "./buttons.ts";

const ITEMS: readonly [Device, IconName, string][] = [
	["phone", "phone", `Phone, ${WIDTHS.phone} px`],
	["tablet", "tablet", `Tablet, ${WIDTHS.tablet} px`],
	["desktop", "desktop", `Desktop, ${WIDTHS.desktop} px`],
	["full", "width", "Full width"],
];

export function createDevices(
	context: Pick<Context, "signal">,
	current: () => Device,
	choose: (device: Device) => void,
) {
	return createRadios(context, {
		label: "Preview width",
		className: "anb-seg",
		items: ITEMS,
		current,
		choose,
	});
}
