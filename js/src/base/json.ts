// JSON values, compared by content.

/** Whether two values are equal, regardless of the order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
	return canonical(a) === canonical(b);
}

function canonical(value: unknown): string | undefined {
	return JSON.stringify(value, (_, part: unknown) =>
		part && typeof part === "object" && !Array.isArray(part)
			? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
			: part,
	);
}

/** The names of the arguments that differ. */
export function changedNames(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
	const names = new Set([...Object.keys(before), ...Object.keys(after)]);
	return [...names].filter((name) => !sameJson(before[name], after[name]));
}

/** A value for display: a string as it is, anything else as JSON. */
export function readable(value: unknown, indent = 0): string {
	return typeof value === "string" ? value : (JSON.stringify(value, null, indent) ?? "");
}

/** A text, which the notebook format may store as a list of lines; empty for anything else. */
export function joined(value: unknown): string {
	return Array.isArray(value) ? value.join("") : typeof value === "string" ? value : "";
}
