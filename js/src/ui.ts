// What the person has chosen: per view of a run while the page lives, and the layout for next time.

import type { Tape } from "./tape.ts";

export type Tab = "preview" | "code" | "diff" | "console" | "files";
export type Device = "phone" | "tablet" | "full";
/** How several variants are looked at: one at a time, all small, or some beside each other. */
export type Arrangement = "one" | "grid" | "side";

/** Where the replay of a finished run stands. */
export interface Replay {
	tape: Tape;
	/** How many events have happened. */
	count: number;
	/** The tape's clock: while it plays, it is between two events. */
	time: number;
	playing: boolean;
	speed: number;
}

/** Choices within one view of a run; they outlive the elements, which come and go as cells scroll. */
export interface Choices {
	tab: Tab;
	/** Null follows the newest page. */
	file: string | null;
	/** Null follows the newest version. */
	version: number | null;
	device: Device;
	variant: number;
	arrangement: Arrangement;
	/** Rows the person has opened or closed, by key. */
	rows: Map<string, boolean>;
	/** In a narrow frame the transcript of a finished run folds to one line. */
	unfolded: boolean;
	/** What the last command came to, when it did not go well. */
	note: string;
	/** Null shows the run as it stands. */
	replay: Replay | null;
	/** The turn whose request is looked at. */
	request: number | null;
}

export function newChoices(): Choices {
	return {
		tab: "preview",
		file: null,
		version: null,
		device: "full",
		variant: 0,
		arrangement: loadLayout().arrangement,
		rows: new Map(),
		unfolded: false,
		note: "",
		replay: null,
		request: null,
	};
}

/** Forgets the choices that are about one variant's rows and files. */
export function forgetVariant(choices: Choices): void {
	Object.assign(choices, { file: null, version: null, rows: new Map() });
}

/** Forgets the choices made in a session that another has replaced; tab and device stay. */
export function startOver(choices: Choices): void {
	const { arrangement } = loadLayout();
	forgetVariant(choices);
	Object.assign(choices, { variant: 0, arrangement, unfolded: false, note: "", replay: null, request: null });
}

/** The same choices, for another view to change. */
export function copyChoices(choices: Choices): Choices {
	const { rows, replay } = choices;
	return { ...choices, rows: new Map(rows), replay: replay && { ...replay }, note: "" };
}

export interface Layout {
	/** The transcript's share of the width, in percent. */
	split: number;
	height: number | null;
	arrangement: Arrangement;
}

const KEY = "agent_nb.layout";
const DEFAULT: Layout = { split: 41, height: null, arrangement: "grid" };
const ARRANGEMENTS: readonly Arrangement[] = ["one", "grid", "side"];

/** Storage may be full, forbidden or someone else's: the layout is then the default one. */
export function loadLayout(): Layout {
	try {
		const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Layout>;
		const { split, height, arrangement } = stored;
		return {
			split: typeof split === "number" && split >= 20 && split <= 80 ? split : DEFAULT.split,
			height: typeof height === "number" && height >= 240 && height <= 4000 ? height : DEFAULT.height,
			arrangement: ARRANGEMENTS.find((one) => one === arrangement) ?? DEFAULT.arrangement,
		};
	} catch {
		return DEFAULT;
	}
}

export function saveLayout(part: Partial<Layout>): void {
	try {
		localStorage.setItem(KEY, JSON.stringify({ ...loadLayout(), ...part }));
	} catch {
		// Nothing is lost but the memory of a width.
	}
}
