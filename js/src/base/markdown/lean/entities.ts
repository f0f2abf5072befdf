// What the parser needs of the package `entities`, whose table is as large as the parser: the browser has the same one.

let area: HTMLTextAreaElement | undefined;

/** The characters of `&name;`, or the same text if HTML has no such name. The parser passes nothing but letters and digits. */
export function decodeHTML(entity: string): string {
	area ??= document.createElement("textarea");
	area.innerHTML = entity;
	const text = area.textContent ?? "";
	// HTML reads `&notit;` as `&not` and text; in Markdown the whole name counts.
	return text.length > 1 && text.endsWith(";") ? entity : text;
}

export const decodeHTMLStrict = decodeHTML;
