// What the person has chosen: per run while the page lives, and the layout for next time.

export type Tab = "preview" | "code" | "diff" | "console" | "files";
export type Device = "phone" | "tablet" | "full";

/** Choices within one run; they outlive the elements, which come and go as cells scroll. */
export interface Choices {
	tab: Tab;
	/** Null follows the newest page. */
	file: string | null;
	/** Null follows the newest version. */
	version: number | null;
	device: Device;
	variant: number;
	/** Rows the person has opened or closed, by key. */
	rows: Map<string, boolean>;
	/** In a narrow frame the transcript of a finished run folds to one line. */
	unfolded: boolean;
	/** What the last command came to, when it did not go well. */
	note: string;
}

export function newChoices(): Choices {
	return {
		tab: "preview",
		file: null,
		version: null,
		device: "full",
		variant: 0,
		rows: new Map(),
		unfolded: false,
		note: "",
	};
}

export interface Layout {
	/** The transcript's share of the width, in percent. */
	split: number;
	height: number | null;
}

const KEY = "agent_nb.layout";
const DEFAULT: Layout = { split: 41, height: null };

/** Storage may be full, forbidden or someone else's: the layout is then the default one. */
export function loadLayout(): Layout {
	try {
		const { split, height } = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Layout>;
		return {
			split: typeof split === "number" && split >= 20 && split <= 80 ? split : DEFAULT.split,
			height: typeof height === "number" && height >= 240 && height <= 4000 ? height : DEFAULT.height,
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
