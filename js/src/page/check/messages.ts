// The messages between the widget and the script that checks a page. The page shares a realm with the script and may
// change everything it sends, so the kernel treats the report as untrusted.

export interface ConsoleLine {
	level: "error" | "warning" | "info";
	text: string;
	line?: number;
	file?: string;
}

/** `agent_nb/pages/page_check.py` reads it. */
export interface Report {
	/** `png` is in base64. */
	screenshots: { width: number; height: number; png: string; cut: boolean }[];
	console: ConsoleLine[];
	blocked: { address: string; reason: string }[];
	overflow: { pixels: number; selector: string } | null;
	findings: { rule: string; impact: string; summary: string; targets: string[] }[];
	/** One entry per selector, null if nothing matches. `agent_nb/pages/element_look.py` reads them. */
	elements: (Look | null)[];
	/** What is missing from the report, and why. */
	notes: string[];
}

/** The appearance of an element; `png` is in base64, empty if there is no image. */
export interface Look {
	box: [left: number, top: number, width: number, height: number];
	style: Record<string, string>;
	png: string;
}

/** The input of the script. */
export interface CheckInput {
	port: MessagePort;
	widths: readonly number[];
	path: string;
	/** The page as it is written into the frame. */
	html: string;
	/** The elements to check instead of the whole page, if any. */
	selectors: readonly string[];
}

/** Messages from the script: a partial report to merge, the width it needs next, or the end. */
export type FromCheck = { part: Partial<Report> } | { width: number } | { done: true };
