// Outputs that JupyterLab has collapsed. It shows the source of their first line, ours being `<!-- hero: done -->`.

const TEXT = ".jp-PlaceholderText";
const TITLE = /^<!-- ([\p{L}\p{N}_]+: [^<>]+) -->$/u;

/** Shows the first lines of our outputs in a part of the page as text. */
export function showTitles(node: Node): void {
	const part = node instanceof Element ? node : node.parentElement;
	for (const element of [part?.closest(TEXT), ...(part?.querySelectorAll(TEXT) ?? [])]) {
		const title = TITLE.exec(element?.textContent ?? "")?.[1];
		if (element && title) element.textContent = title;
	}
}
