import { type ConsoleLevel, LEVELS } from "./messages.ts";

/** Formats a value that a page has logged or thrown. */
export function describe(value: unknown): string {
	if (typeof value === "string") return value;
	if (value instanceof Error) return `${value.name}: ${value.message}`;
	if (value instanceof Element) return `<${value.localName}>`;
	try {
		return JSON.stringify(value) ?? String(value);
	} catch {
		return String(value);
	}
}

/** Reports what the page writes to its console. */
export function hookConsole(report: (level: ConsoleLevel, text: string) => void): void {
	for (const level of LEVELS) {
		const original = console[level].bind(console);
		console[level] = (...values: unknown[]) => {
			report(level, values.map(describe).join(" "));
			original(...values);
		};
	}
}

/** An address or path without percent escapes, if they are valid. */
export function decoded(address: string): string {
	try {
		return decodeURIComponent(address);
	} catch {
		return address;
	}
}
