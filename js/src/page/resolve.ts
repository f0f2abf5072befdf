// Inlines files into a page: relative addresses become data URLs.
// Blob URLs would not work: they belong to Jupyter's origin, not to the frame's.

import { decoded } from "./describe.ts";

/** Where the resolver reads files from. */
export interface Source {
	/** The text of a file, or its bytes as base64; null if there is no such file. */
	read(path: string): { media_type: string; text: string } | { media_type: string; base64: string } | null;
}

// All of these take linear time: a page may be hostile, and a slow pattern blocks the whole tab.
// They also match an unterminated tag, so that the search does not restart inside it.
const TAGS = /<(?:link|script|img|source|video|audio|image|use)\b[^>]*>?/gi;
const ADDRESSES = /(\s(?:src|href|poster|xlink:href)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi;
const SOURCE_SETS = /(\ssrcset\s*=\s*)("[^"]*"|'[^']*')/gi;
const STYLE_URLS = /url\(\s*(?:(["'])([^"'()]+)\1\s*|([^"'()\s][^"'()]*))\)/gi;
const STYLE_IMPORTS = /@import\s+(["'])([^"']+)\1/gi;
const MODULE_IMPORTS = /(\bfrom\s*|\bimport\s*(?:\(\s*)?)(["'])(\.{1,2}\/[^"']+)\2/g;
const MISSING = "data:,";
/**
 * Placeholder for an image that is not available yet. It has no intrinsic size, so that the page determines it, and no
 * quotes, which would end the string of a script that contains it.
 */
const NO_IMAGE =
	"data:image/svg+xml,%3Csvg%20xmlns=%27http://www.w3.org/2000/svg%27%20style=%27background:%238883%27/%3E";
/** Maximum characters of inlined styles and scripts: files that each import the next one twice grow exponentially. */
const MOST_TEXT = 20_000_000;

export class Resolver {
	readonly #source: Source;
	readonly #base: string;
	readonly #stack: string[] = [];
	#left = MOST_TEXT;
	/** Missing paths that the page refers to. */
	readonly missing = new Set<string>();

	constructor(source: Source, path: string) {
		this.#source = source;
		this.#base = path;
	}

	/** Resolves the addresses in a piece of the page, which must not end inside a tag. */
	html(piece: string): string {
		return this.#styles(piece, this.#base).replace(TAGS, (tag) => (tag.endsWith(">") ? this.#tag(tag) : tag));
	}

	#tag(tag: string): string {
		const missing = /^<img/i.test(tag) ? NO_IMAGE : MISSING;
		return this.#sourceSets(tag).replace(ADDRESSES, (whole, name: string, value: string) => {
			const quoted = /^["']/.test(value);
			const address = this.#address(quoted ? value.slice(1, -1) : value, this.#base, missing);
			return address === null ? whole : `${name}"${address}"`;
		});
	}

	#sourceSets(tag: string): string {
		return tag.replace(SOURCE_SETS, (_whole, name: string, value: string) => {
			const entries = value
				.slice(1, -1)
				.split(/,\s+|,$/)
				.map((entry) => entry.trim().replace(/^\S+/, (url) => this.#address(url, this.#base) ?? url));
			return `${name}${value[0]}${entries.join(", ")}${value[0]}`;
		});
	}

	#styles(text: string, base: string): string {
		// Keeps the original quotes: others might end the surrounding attribute.
		return text.replace(STYLE_URLS, (whole, quote = "", quoted?: string, bare?: string) => {
			const address = this.#address((quoted ?? bare ?? "").trim(), base);
			return address === null ? whole : `url(${quote}${address}${quote})`;
		});
	}

	/** A data URL for a relative address; null for any other address. */
	#address(address: string, base: string, missing = MISSING): string | null {
		const path = resolvePath(address, base);
		if (path === null) return null;
		const file = this.#left < 0 || this.#stack.includes(path) ? null : this.#source.read(path);
		if (!file) {
			this.missing.add(path);
			return missing;
		}
		if ("base64" in file) return `data:${file.media_type};base64,${file.base64}`;
		this.#stack.push(path);
		const text = this.#inlined(path, file.text);
		this.#stack.pop();
		const inlined = `data:${file.media_type};charset=utf-8,${encodeURIComponent(text).replace(/[()']/g, percent)}`;
		this.#left -= inlined.length;
		return inlined;
	}

	/** Inlines the files that a style sheet or script uses. */
	#inlined(path: string, text: string): string {
		if (path.endsWith(".css")) {
			const imports = text.replace(STYLE_IMPORTS, (whole, _quote, url: string) => {
				const address = this.#address(url, path);
				return address === null ? whole : `@import "${address}"`;
			});
			return this.#styles(imports, path);
		}
		if (/\.m?js$/.test(path)) {
			const inlined = text.replace(MODULE_IMPORTS, (whole, lead: string, quote: string, url: string) => {
				const address = this.#address(url, path);
				return address === null ? whole : `${lead}${quote}${address}${quote}`;
			});
			// Makes errors name the file instead of the data URL.
			return `${inlined}\n//# sourceURL=${encodeURI(path)}`;
		}
		return text;
	}
}

/** Encodes what `encodeURIComponent` does not, and what would end an address in a style sheet. */
function percent(character: string): string {
	return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The path that a relative address in the file `base` refers to; null if it is not relative. */
export function resolvePath(address: string, base: string): string | null {
	if (address === "" || /^([a-z][a-z0-9+.-]*:|\/\/|#|\{)/i.test(address)) return null;
	const clean = address.split(/[?#]/)[0] ?? "";
	const parts = clean.startsWith("/") ? [] : base.split("/").slice(0, -1);
	for (const part of clean.split("/")) {
		if (part === "..") parts.pop();
		else if (part !== "." && part !== "") parts.push(part);
	}
	return decoded(parts.join("/")) || null;
}

/** The length of `pending` that may be written: an incomplete tag or address is held back. */
export function writable(pending: string): number {
	let end = pending.length;
	for (const [open, close] of [
		["<", ">"],
		["url(", ")"],
	] as const) {
		const start = pending.lastIndexOf(open);
		if (start >= 0 && pending.indexOf(close, start) < 0 && pending.length - start < 4096)
			end = Math.min(end, start);
	}
	return wholeEnd(pending, end);
}

/** `end`, or one less where it would cut a surrogate pair. */
export function wholeEnd(text: string, end: number): number {
	const last = text.charCodeAt(end - 1);
	return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}
