// The messages between the preview's frame and the widget, over a private port. The page runs in the same frame and
// may get at the port, so every message is checked, and no more are accepted than the frame's own script would send.

import type { Bound } from "../bind/messages.ts";
import type { FieldValue, SavedField } from "./fields.ts";

/** What the widget asks of the frame, with what it gives; `ANSWERS` says what comes back. */
export interface FrameRequests {
	/** With what the page is bound to, if it is. */
	open: Bound | null;
	write: string;
	close: null;
	morph: PageChange & { reveal: boolean };
	/** Shows where the page differs from an earlier one. */
	reveal: PageChange;
	scroll: Scroll;
	/** Scrolls to a share of the page, from 0 to 1. */
	place: number;
	/** Asks for what the user has given to the fields. */
	take: null;
	put: readonly SavedField[];
	/** Runs a script of ours, which finds `given` and answers through its port. */
	run: { code: string; given: { port: MessagePort } };
	ping: null;
}
export type FrameRequest = keyof FrameRequests;
export type FrameAnswer<K extends FrameRequest> = NonNullable<ReturnType<(typeof ANSWERS)[K]>>;
export type PageChange = { from: string; to: string };
export type Scroll = { x: number; y: number };

/** What the frame tells unasked. */
export interface FrameReports {
	/** The user has scrolled the page to a share of it, from 0 to 1. */
	scrolled: number;
	/** The wheel was turned over a page that nobody has clicked: by how much, and where the page would scroll to. */
	wheel: { by: number; to: number };
	/** `script` is the inline script that `entry.line` counts from. */
	console: { entry: ConsoleEntry; script?: string };
	leaving: true;
	/** The user has pressed something in the page. */
	pressed: true;
	/** The user has pressed a key in the page, which gives it no right to the focus: the page may have taken it. */
	typed: true;
	link: string;
	/** The user has pressed Escape, which the page does not use. */
	escaped: true;
	/** The user has pressed Ctrl+S or Cmd+S. */
	save: true;
}

export type ToFrame = { [K in FrameRequest]: { id: number; ask: K; given: FrameRequests[K] } }[FrameRequest];
export type FromFrame =
	| { id: number; answer: FrameAnswer<FrameRequest> | undefined }
	| { [K in keyof FrameReports]: { tell: K; given: FrameReports[K] } }[keyof FrameReports];

export const LEVELS = ["log", "info", "warn", "error", "debug"] as const;
export type ConsoleLevel = (typeof LEVELS)[number];

/** Characters of one console entry. */
export const LONGEST = 2000;
/** Console entries per second; the rest is dropped. */
export const MOST_PER_SECOND = 100;

/** Fields whose content is kept when a page is loaded again. */
const MOST_FIELDS = 500;

export interface ConsoleEntry {
	level: ConsoleLevel;
	text: string;
	line?: number;
	/** The file that the line is in. */
	file?: string;
}

type Reader<T> = (data: unknown) => T | null;

const asNumber: Reader<number> = (data) => (isNumber(data) ? data : null);
const asTrue: Reader<true> = (data) => data === true || null;
const asFlag: Reader<boolean> = (data) => (typeof data === "boolean" ? data : null);

/** The answers; null for one that the frame's own script would not give. */
export const ANSWERS = {
	open: asTrue,
	/** Whether there is something to see. */
	write: asFlag,
	close: asFlag,
	/** False if scripts have changed the page since it was written: it must be loaded again. */
	morph: asFlag,
	reveal: asTrue,
	scroll: asTrue,
	place: asTrue,
	take: readFields,
	put: asTrue,
	run: asTrue,
	ping: readScroll,
} satisfies { [K in FrameRequest]: Reader<unknown> };

/** What is told, read in the same way. */
export const REPORTS: { [K in keyof FrameReports]: Reader<FrameReports[K]> } = {
	scrolled: asNumber,
	wheel: readWheel,
	console: readConsole,
	leaving: asTrue,
	pressed: asTrue,
	typed: asTrue,
	link: (data) => (isShort(data) ? data : null),
	escaped: asTrue,
	save: asTrue,
};

function readConsole(data: unknown): FrameReports["console"] | null {
	const { entry, script } = (data ?? {}) as Record<string, unknown>;
	const { level, text, line, file } = (entry ?? {}) as Record<string, unknown>;
	const known = LEVELS.find((name) => name === level);
	if (!known || !isShort(text)) return null;
	return {
		entry: { level: known, text, ...(isNumber(line) && { line }), ...(isShort(file) && { file }) },
		...(typeof script === "string" && { script }),
	};
}

function readScroll(data: unknown): Scroll | null {
	const { x, y } = (data ?? {}) as Record<string, unknown>;
	return isNumber(x) && isNumber(y) ? { x, y } : null;
}

function readWheel(data: unknown): FrameReports["wheel"] | null {
	const { by, to } = (data ?? {}) as Record<string, unknown>;
	return isNumber(by) && isNumber(to) ? { by, to } : null;
}

function readFields(fields: unknown): SavedField[] | null {
	if (!Array.isArray(fields)) return null;
	return fields.slice(0, MOST_FIELDS).flatMap((field: Partial<SavedField> | null) => {
		const { keys, given } = field ?? {};
		return Array.isArray(keys) && keys.every(isString) && isFieldValue(given) ? [{ keys, given }] : [];
	});
}

function isFieldValue(given: unknown): given is FieldValue {
	const flags = Array.isArray(given) ? given : [given];
	return isString(given) || flags.every((flag) => typeof flag === "boolean");
}

function isNumber(value: unknown): value is number {
	return Number.isFinite(value);
}

function isString(value: unknown): value is string {
	return typeof value === "string";
}

function isShort(value: unknown): value is string {
	return isString(value) && value.length <= LONGEST;
}

/** The first message of a frame, sent to its parent with the port. Only the shell knows the frame's secret. */
export interface Hello {
	agent_nb_preview: string;
}

/** Why a page is no longer shown. */
export const LOSSES = {
	hung: "The page did not respond for several seconds: it is very large, or a script runs without end.",
	left: "The page tried to go to another address.",
	grabbed: "The page kept taking the keyboard focus.",
	flooded: "The page sent too many messages.",
};
export type Loss = keyof typeof LOSSES;
