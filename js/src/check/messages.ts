// What passes between the widget and the script that looks at a page. The page shares a realm with the script and may
// change everything it sends, so the kernel takes the report for untrusted.

export interface ConsoleLine {
	level: "error" | "warning" | "info";
	text: string;
	line?: number;
	file?: string;
}

/** `agent_nb/looking/page_check.py` reads it. */
export interface Report {
	/** `png` is in base64. */
	screenshots: { width: number; height: number; png: string; cut: boolean }[];
	console: ConsoleLine[];
	blocked: { address: string; reason: string }[];
	overflow: { pixels: number; selector: string } | null;
	findings: { rule: string; impact: string; summary: string; targets: string[] }[];
	/** One for each selector, null where it finds nothing. `agent_nb/looking/element_look.py` reads them. */
	elements: (Look | null)[];
	/** What is missing, and why. */
	notes: string[];
}

/** How an element looks; `png` is in base64, and empty if there is none. */
export interface Look {
	box: [left: number, top: number, width: number, height: number];
	style: Record<string, string>;
	png: string;
}

/** What the script is given. */
export interface CheckInput {
	port: MessagePort;
	widths: readonly number[];
	path: string;
	/** The page as it is written into the frame. */
	html: string;
	/** The elements to look at instead of the whole page, if there are any. */
	selectors: readonly string[];
}

/** What the script sends: a part of the report, whose lists are added to it; the width it needs next; or the end. */
export type FromCheck = { part: Partial<Report> } | { width: number } | { done: true };
