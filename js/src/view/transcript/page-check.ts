// What was found when the model looked at its page: the console and the problems, in a fold.

import { h, icon } from "../../dom.ts";
import { createLine } from "../shared/console-line.ts";

export const CHECK_TYPE = "application/vnd.agent-nb.check+json";

/** A `PageCheck` of `agent_nb/looking/page_check.py`, without its images. */
export interface Check {
	path: string;
	console: { level: "error" | "warning" | "info"; text: string; line: number | null; file: string }[];
	blocked: { address: string; reason: string }[];
	overflow: { pixels: number; selector: string } | null;
	findings: { summary: string; targets: string[] }[];
	notes: string[];
	/** `thumbnail` is a small JPEG in base64. */
	screenshots: { thumbnail?: string }[];
}

/** The fold, or nothing if there is nothing to report. */
export function createCheck({ console, blocked, overflow, findings, notes }: Check): HTMLElement[] {
	const warn = (text: string): HTMLElement => createLine("warn", text);
	const lines = [
		...console.map(({ level, text, file, line }) =>
			createLine(level === "warning" ? "warn" : level, text, line && h("span", null, `${file} line ${line}`)),
		),
		...blocked.map(({ address, reason }) => warn(`Not loaded: ${address} (${reason})`)),
		...(overflow ? [warn(`${overflow.pixels} px too wide for a phone: ${overflow.selector}`)] : []),
		...findings.map(({ summary, targets }) => warn(`${summary}: ${targets.join(", ")}`)),
		...notes.map((note) => createLine("info", note)),
	];
	if (lines.length === 0) return [];
	const summary = h("summary", null, icon("right", "chev"), `console and problems (${lines.length})`);
	return [h("details", { class: "anb-args" }, summary, h("ul", { class: "anb-con" }, ...lines))];
}
