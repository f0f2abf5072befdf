// The widths in which a page can be laid out.

export type Device = "phone" | "tablet" | "desktop" | "full";

/** In pixels; null for the width that there is. */
export const WIDTHS: Record<Device, number | null> = { phone: 390, tablet: 768, desktop: 1280, full: null };
