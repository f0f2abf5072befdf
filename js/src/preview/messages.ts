// What the preview's frame and the widget say to each other, over a private port. The page lives in the same frame:
// should it get at the port, what comes is checked, and no more of it is taken than the frame's own script would say.

export type ToFrame =
	| { do: "open" }
	| { do: "write"; text: string }
	| { do: "close" }
	| { do: "morph"; from: string; to: string }
	| { do: "scroll"; x: number; y: number }
	| { do: "ping" };

export const LEVELS = ["log", "info", "warn", "error", "debug"] as const;
export type ConsoleLevel = (typeof LEVELS)[number];

/** Characters of one thing that a page logs. */
export const LONGEST = 2000;
/** Things that a page may log in a second; the rest is left out. */
export const MOST_PER_SECOND = 100;

export interface ConsoleEntry {
	level: ConsoleLevel;
	text: string;
	line?: number;
}

export type FromFrame =
	/** A piece is in; `body` once there is something to see. */
	| { is: "wrote"; body: boolean }
	| { is: "alive"; x: number; y: number }
	| { is: "console"; entry: ConsoleEntry; script?: string }
	| { is: "leaving" }
	/** The person has pressed something in the page. */
	| { is: "pressed" }
	| { is: "link"; href: string }
	/** Scripts have changed the page since it was written: it must be loaded anew. */
	| { is: "unmorphable" };

/** The message, if it is one that our script in the frame would send. */
export function heard(data: unknown): FromFrame | null {
	const message = (data ?? {}) as Record<string, unknown>;
	switch (message.is) {
		case "wrote":
			return { is: "wrote", body: message.body === true };
		case "alive":
			return isNumber(message.x) && isNumber(message.y) ? { is: "alive", x: message.x, y: message.y } : null;
		case "console":
			return heardConsole(message);
		case "link":
			return isShort(message.href) ? { is: "link", href: message.href } : null;
		case "unmorphable":
		case "leaving":
		case "pressed":
			return { is: message.is };
		default:
			return null;
	}
}

function heardConsole({ entry, script }: Record<string, unknown>): FromFrame | null {
	const { level, text, line } = (entry ?? {}) as Record<string, unknown>;
	const known = LEVELS.find((name) => name === level);
	if (!known || !isShort(text)) return null;
	return {
		is: "console",
		entry: { level: known, text, ...(isNumber(line) && { line }) },
		...(typeof script === "string" && { script }),
	};
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);
const isShort = (value: unknown): value is string => typeof value === "string" && value.length <= LONGEST;

/** The first message of a frame, sent to its parent with the port. Only the shell knows the frame's secret. */
export interface Hello {
	agent_nb_preview: string;
}
