// The messages of a bound page: between its frame and the surrounding window, over a separate port, and between that
// window and the kernel. Values are always JSON texts.

import type { BoundName } from "./events.ts";

/** The data a frame needs to define `notebook` in its page. */
export interface Bound {
	names: readonly BoundName[];
	/** The port to the window around the frame; null if the page has only saved values. */
	port: MessagePort | null;
	saved: Readonly<Record<string, string>>;
}

/** Messages from the page's script. */
export type FromPage =
	| { do: "get"; name: string }
	| { do: "set"; values: readonly (readonly [name: string, text: string])[] }
	| { do: "call"; id: number; name: string; text: string };

type PageAnswer = { do: "value"; name: string } | { do: "result"; id: number };

/** Messages to the page's script. */
export type ToPage = (PageAnswer & ({ text: string } | { error: string })) | { do: "off"; why: string };

/** Messages from the kernel to a view. Long texts are split into parts. */
export type FromStore =
	| (PageAnswer & ({ text: string; last: boolean } | { error: string }))
	| { do: "took"; name: string; error?: string }
	| { do: "note"; level: "log" | "error"; text: string }
	| { do: "off"; why: string };

/** Maximum characters that a page may set or pass to a function at once. */
export const MOST_TEXT = 4_000_000;
export const NO_KERNEL = "This needs the kernel, and the page is not connected to one.";
