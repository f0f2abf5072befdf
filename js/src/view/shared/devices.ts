// The buttons that set the width of the page.

import type { IconName } from "../../base/icons.ts";
import { type Device, WIDTHS } from "../../run/lab.ts";
import { createRadios } from "./buttons.ts";

const ITEMS: readonly [Device, IconName, string][] = [
	["phone", "phone", `Phone, ${WIDTHS.phone} px`],
	["tablet", "tablet", `Tablet, ${WIDTHS.tablet} px`],
	["desktop", "desktop", `Desktop, ${WIDTHS.desktop} px`],
	["full", "width", "Full width"],
];

export function createDevices(current: () => Device, choose: (device: Device) => void) {
	return createRadios({ label: "Preview width", className: "anb-seg", items: ITEMS, current, choose });
}
