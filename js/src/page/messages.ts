// The messages between the preview's frame and the widget, over a private port. The page runs in the same frame and
// may get hold of the port, so every message is validated, and the rate is limited to what our script would send.

import type { Bound } from "../run/bound-messages.ts";
import type { FieldValue, SavedField } from "./fields.ts";

/** The widget's requests to the frame, with their payloads; `ANSWERS` defines the answers. */
export interface FrameRequests {
	/** With the notebook names that the page is bound to, if any. */
	open: Bound | null;
	write: string;
	close: null;
	morph: PageChange & { reveal: boolean };
	/** Shows where the page differs from an earlier one. */
	reveal: PageChange;
	scroll: Scroll;
	/** Scrolls to a share of the page, from 0 to 1. */
	place: number;
	/** Requests the user's input in form fields. */
	take: null;
	put: readonly SavedField[];
	/** Runs our script with the variable `given`; it answers through the port in there. */
	run: { code: string; given: { port: MessagePort } };
	ping: null;
}
export type FrameRequest = keyof FrameRequests;
export type FrameAnswer<K extends FrameRequest> = NonNullable<ReturnType<(typeof ANSWERS)[K]>>;
export type PageChange = { from: string; to: string };
export type Scroll = { x: number; y: number };

/** The frame's unsolicited reports, with the payloads that `REPORTS` reads. */
export type FrameReports = { [K in keyof typeof REPORTS]: NonNullable<ReturnType<(typeof REPORTS)[K]>> };

export type ToFrame = { [K in FrameRequest]: { id: number; ask: K; given: FrameRequests[K] } }[FrameRequest];
export type FromFrame =
	| { id: number; answer: FrameAnswer<FrameRequest> | undefined }
	| { [K in keyof FrameReports]: { tell: K; given: FrameReports[K] } }[keyof FrameReports];

export const LEVELS = ["log", "info", "warn", "error", "debug"] as const;
export type ConsoleLevel = (typeof LEVELS)[number];

/** Maximum characters of a console entry. */
export const LONGEST = 2000;
/** Maximum console entries per second; others are dropped. */
export const MOST_PER_SECOND = 100;

/** Maximum fields whose content survives a reload. */
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

/** Validators for the answers; null for one that our script would not send. */
export const ANSWERS = {
	open: asTrue,
	/** Whether anything is visible. */
	write: asFlag,
	close: asFlag,
	/** False if scripts have changed the page since it was written, so that it must be reloaded. */
	morph: asFlag,
	reveal: asTrue,
	scroll: asTrue,
	place: asTrue,
	take: readFields,
	put: asTrue,
	run: asTrue,
	ping: readScroll,
} satisfies { [K in FrameRequest]: Reader<unknown> };

/** Validators for the reports. */
export const REPORTS = {
	/** The user has scrolled the page to a share of it, from 0 to 1. */
	scrolled: asNumber,
	/** The wheel was turned over a page that was not clicked: by how much, and where the page would scroll to. */
	wheel: readWheel,
	console: readConsole,
	leaving: asTrue,
	/** The user has pressed something in the page. */
	pressed: asTrue,
	/** The user has pressed a key in the page. It does not justify the focus, which the page may have stolen. */
	typed: asTrue,
	link: (data: unknown) => (isShort(data) ? data : null),
	/** The user has pressed Escape, and the page has not handled it. */
	escaped: asTrue,
	/** The user has pressed Ctrl+S or Cmd+S. */
	save: asTrue,
} satisfies Record<string, Reader<unknown>>;

/** `script` is the inline script that `entry.line` counts from. */
function readConsole(data: unknown): { entry: ConsoleEntry; script?: string } | null {
	const { entry, script } = (data ?? {}) as Record<string, unknown>;
	const { level, text, line, file } = (entry ?? {}) as Record<string, unknown>;
	const knownLevel = LEVELS.find((name) => name === level);
	if (!knownLevel || !isShort(text)) return null;
	return {
		entry: { level: knownLevel, text, ...(isNumber(line) && { line }), ...(isShort(file) && { file }) },
		...(typeof script === "string" && { script }),
	};
}

function readScroll(data: unknown): Scroll | null {
	const { x, y } = (data ?? {}) as Record<string, unknown>;
	return isNumber(x) && isNumber(y) ? { x, y } : null;
}

function readWheel(data: unknown): { by: number; to: number } | null {
	const { by, to } = (data ?? {}) as Record<string, unknown>;
	return isNumber(by) && isNumber(to) ? { by, to } : null;
}

function readFields(fields: unknown): SavedField[] | null {
	if (!Array.isArray(fields)) return null;
	return fields.slice(0, MOST_FIELDS).flatMap((field: Partial<SavedField> | null) => {
		const { keys, value } = field ?? {};
		return Array.isArray(keys) && keys.every(isString) && isFieldValue(value) ? [{ keys, value }] : [];
	});
}

function isFieldValue(value: unknown): value is FieldValue {
	const flags = Array.isArray(value) ? value : [value];
	return isString(value) || flags.every((flag) => typeof flag === "boolean");
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
