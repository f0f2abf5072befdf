// Values in the browser's storage, as JSON. Storage may be blocked or full, and may contain anything.

type Area = "localStorage" | "sessionStorage";

/** The stored value; null if there is none. */
export function load(area: Area, key: string): unknown {
	try {
		return JSON.parse(window[area].getItem(key) ?? "null");
	} catch {
		return null;
	}
}

/** Stores a value if the browser allows it; null removes the stored one. */
export function store(area: Area, key: string, value: unknown): void {
	try {
		if (value === null) window[area].removeItem(key);
		else window[area].setItem(key, JSON.stringify(value));
	} catch {
		// The value is then lost on a reload.
	}
}
