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

/** An address or path without percent escapes, if they are valid. */
export function decoded(address: string): string {
	try {
		return decodeURIComponent(address);
	} catch {
		return address;
	}
}
