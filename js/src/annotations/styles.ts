// The styles of this module, added to those of the widget.

import css from "./annotations.css";

let sheet: CSSStyleSheet | null = null;

export function adopt(element: HTMLElement): void {
	const root = element.getRootNode() as ShadowRoot;
	if (!sheet) {
		sheet = new CSSStyleSheet();
		sheet.replaceSync(css);
	}
	if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}
