// What the preview's frame and the widget say to each other, over a private port.

export type ToFrame =
	| { do: "open" }
	| { do: "write"; text: string }
	| { do: "close" }
	| { do: "morph"; from: string; to: string }
	| { do: "scroll"; x: number; y: number }
	| { do: "ping" };

export type ConsoleLevel = "log" | "info" | "warn" | "error" | "debug";

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
	| { is: "link"; href: string }
	/** Scripts have changed the page since it was written: it must be loaded anew. */
	| { is: "unmorphable" };

/** The first message of a frame, sent to its parent with the port. Only the shell knows the frame's secret. */
export interface Hello {
	agent_nb_preview: string;
}
