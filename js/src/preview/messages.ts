// The messages between the preview's frame and the widget, over a private port. The page runs in the same frame and
// may get at the port, so every message is checked, and no more are accepted than the frame's own script would send.

import type { Given, GivenField } from "./fields.ts";

export type ToFrame =
	| { do: "open" }
	| { do: "write"; text: string }
	| { do: "close" }
	| { do: "morph"; from: string; to: string; reveal: boolean }
	/** Shows where the page differs from an earlier one. */
	| { do: "reveal"; from: string; to: string }
	| { do: "scroll"; x: number; y: number }
	/** Scrolls to a share of the page, from 0 to 1. */
	| { do: "place"; share: number }
	/** Asks for what the person has given to the fields. */
	| { do: "take" }
	| { do: "put"; fields: GivenField[] }
	/** Runs a script of ours, which finds `given` and answers through its port. */
	| { do: "run"; code: string; given: { port: MessagePort } }
	| { do: "ping" };

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

export type FromFrame =
	/** A piece has been written, or the page is complete; `body` once there is something to see. */
	| { is: "wrote"; body: boolean }
	| { is: "alive"; x: number; y: number }
	/** The person has scrolled the page. */
	| { is: "scrolled"; share: number }
	| { is: "console"; entry: ConsoleEntry; script?: string }
	| { is: "leaving" }
	/** The person has pressed something in the page. */
	| { is: "pressed" }
	/** The person has pressed a key in the page, which gives it no right to the focus: the page may have taken it. */
	| { is: "typed" }
	| { is: "link"; href: string }
	| { is: "given"; fields: GivenField[] }
	/** Scripts have changed the page since it was written: it must be loaded again. */
	| { is: "unmorphable" };

/** The message, or null if the frame's own script would not send it. */
export function readMessage(data: unknown): FromFrame | null {
	const message = (data ?? {}) as Record<string, unknown>;
	switch (message.is) {
		case "wrote":
			return { is: "wrote", body: message.body === true };
		case "alive":
			return isNumber(message.x) && isNumber(message.y) ? { is: "alive", x: message.x, y: message.y } : null;
		case "scrolled":
			return isNumber(message.share) ? { is: "scrolled", share: message.share } : null;
		case "console":
			return readConsole(message);
		case "link":
			return isShort(message.href) ? { is: "link", href: message.href } : null;
		case "given":
			return { is: "given", fields: readFields(message.fields) };
		case "unmorphable":
		case "leaving":
		case "pressed":
		case "typed":
			return { is: message.is };
		default:
			return null;
	}
}

function readConsole({ entry, script }: Record<string, unknown>): FromFrame | null {
	const { level, text, line, file } = (entry ?? {}) as Record<string, unknown>;
	const known = LEVELS.find((name) => name === level);
	if (!known || !isShort(text)) return null;
	return {
		is: "console",
		entry: { level: known, text, ...(isNumber(line) && { line }), ...(isShort(file) && { file }) },
		...(typeof script === "string" && { script }),
	};
}

function readFields(fields: unknown): GivenField[] {
	if (!Array.isArray(fields)) return [];
	return fields.slice(0, MOST_FIELDS).flatMap((field: Partial<GivenField> | null) => {
		const { keys, given } = field ?? {};
		return Array.isArray(keys) && keys.every(isString) && isGiven(given) ? [{ keys, given }] : [];
	});
}

function isGiven(given: unknown): given is Given {
	const flags = Array.isArray(given) ? given : [given];
	return isString(given) || flags.every((flag) => typeof flag === "boolean");
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);
const isString = (value: unknown): value is string => typeof value === "string";
const isShort = (value: unknown): value is string => isString(value) && value.length <= LONGEST;

/** The first message of a frame, sent to its parent with the port. Only the shell knows the frame's secret. */
export interface Hello {
	agent_nb_preview: string;
}
