// Collects console output, errors, and addresses that failed to load.

import { decoded, describe, hookConsole } from "../describe.ts";
import type { CheckInput, ConsoleLine, Report } from "./messages.ts";

/** Maximum lines per level, and maximum addresses. */
const MOST = 30;
const LONGEST = 400;
/** Milliseconds to wait for a policy violation that explains a failed load. */
const DELAY = 100;
const LEVELS = { log: "info", info: "info", debug: "info", warn: "warning", error: "error" } as const;
/** Prefix of the screenshot library's messages. */
const LIBRARY = "[snapdom]";
/** The address of a file that does not exist; the widget reports these. */
const MISSING = "data:,";

type SendPart = (part: Partial<Report>) => void;

export function collect(input: CheckInput, send: SendPart): void {
	const lines = limited((line: ConsoleLine) => send({ console: [line] }));
	const log = (level: ConsoleLine["level"], text: string, place: SourcePosition = {}): void =>
		lines(level, { level, text: text.slice(0, LONGEST), ...place });
	hookConsole((level, text) => {
		if (!text.toLowerCase().startsWith(LIBRARY)) log(LEVELS[level], text);
	});
	collectLoads(send);
	window.addEventListener("error", ({ message, filename, lineno, colno }) => {
		if (message) log("error", message, placeOf(input, filename, [lineno, colno]));
	});
	window.addEventListener("unhandledrejection", ({ reason }) => {
		log("error", `Unhandled ${describe(reason)}`, placeIn(input, reason));
	});
}

/** Passes on the first few entries of each kind. */
function limited<T>(pass: (entry: T) => void): (kind: string, entry: T) => void {
	const counts = new Map<string, number>();
	return (kind, entry) => {
		const count = (counts.get(kind) ?? 0) + 1;
		counts.set(kind, count);
		if (count <= MOST) pass(entry);
	};
}

function collectLoads(send: SendPart): void {
	const reported = new Set<string>();
	const pass = limited((load: Report["blocked"][number]) => send({ blocked: [load] }));
	const add = (address: string, reason: string): void => {
		if (!address || address === MISSING || reported.has(address)) return;
		reported.add(address);
		pass("", { address: address.slice(0, LONGEST), reason });
	};
	document.addEventListener("securitypolicyviolation", ({ blockedURI }) =>
		add(blockedURI, "the preview does not allow it"),
	);
	const failed = (event: Event): void => {
		if (!(event.target instanceof Element)) return;
		const address = addressOf(event.target);
		setTimeout(() => add(address, "it could not be loaded"), DELAY);
	};
	window.addEventListener("error", failed, true);
}

function addressOf(element: Element): string {
	for (const name of ["src", "href", "poster"]) {
		const address = element.getAttribute(name);
		if (address) return address;
	}
	return "";
}

type SourcePosition = Pick<ConsoleLine, "line" | "file">;

/** The source position of an error, from the address, line and column that the browser reports. */
function placeOf(
	{ path, html }: CheckInput,
	address: string,
	[line, column]: [number, number],
): SourcePosition {
	// The address of a script in another file is its path.
	if (!isPage(address)) return { file: decoded(address).slice(0, LONGEST), line };
	// In a document made by `document.write`, lines are counted from the script's tag.
	const page = html.replace(/\r\n?/g, "\n");
	const text = inlineScript(line, column);
	const start = text ? page.indexOf(text) : -1;
	if (start < 0) return { file: path };
	return { file: path, line: page.slice(0, start).split("\n").length + line - 1 };
}

function isPage(address: string): boolean {
	return address === "" || address.startsWith("about:") || address === document.URL;
}

/** The current inline script; if none is running, the only one that contains this position. */
function inlineScript(line: number, column: number): string {
	const current = document.currentScript;
	if (current instanceof HTMLScriptElement) return current.text;
	const after = (text: string): string => text.split("\n")[line - 1]?.slice(column - 1) ?? "";
	const possible = [...document.scripts].filter(({ src, text }) => !src && after(text).trim());
	return possible.length === 1 ? (possible[0]?.text ?? "") : "";
}

/** The source position of a rejected promise: the first stack entry with an address. */
function placeIn(input: CheckInput, reason: unknown): SourcePosition {
	const stack = reason instanceof Error ? String(reason.stack) : "";
	const position = /(?:at |\(|@)([^\s(@]+):(\d+):(\d+)\)?$/m.exec(stack);
	return position?.[1] ? placeOf(input, position[1], [Number(position[2]), Number(position[3])]) : {};
}
