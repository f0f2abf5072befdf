// Text for approval: nothing is invisible, and it reads exactly as it runs.

const EMOJI = "\\u00a9\\u00ae\\u203c\\u2049\\u2122-\\u2bff\\u3030-\\u3299\\u{1f000}-\\u{1faff}";

/** Counterpart of `agent_nb/_base/text.py`; `tests/support/printable.json` has the cases for both. */
const HIDDEN = new RegExp(
	"[\\x00-\\x08\\x0b-\\x1f\\x7f-\\xa0\\xad\\u034f\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200c" +
		"\\u200e\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ud800-\\udfff\\ue000-\\uf8ff\\ufe00-\\ufe0e\\ufeff" +
		"\\uffa0\\ufff0-\\ufffb\\u{110bd}\\u{110cd}\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{10ffff}]" +
		`|(?<![${EMOJI}])\\ufe0f|(?<![${EMOJI}\\ufe0f])\\u200d|\\u200d(?![${EMOJI}])` +
		"|<(?=U\\+[0-9A-F]{4,6}>)",
	"gu",
);

/** An escaped character. */
const WRITTEN = /<U\+([0-9A-F]{4,6})>/;

/** Escapes invisible characters, as `<U+000D>`. The result is unambiguous. */
export function printable(text: string): string {
	return text.replace(HIDDEN, (character) => {
		return `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`;
	});
}

/** The inverse of `printable`. */
export function original(shown: string): string {
	return shown.replace(new RegExp(WRITTEN, "g"), (written, code: string) => {
		const point = Number.parseInt(code, 16);
		return point <= 0x10ffff ? String.fromCodePoint(point) : written;
	});
}

/** Splits a printable text: plain text and escaped characters alternate. */
export function pieces(shown: string): string[] {
	return shown.split(new RegExp(`(${WRITTEN.source.replace("(", "(?:")})`));
}
