// The styles, shared by every mount.

import styles from "../view/styles/widget.css";

let sheet: CSSStyleSheet | null = null;

export function adoptStyles(root: ShadowRoot): void {
	sheet ??= createSheet(styles);
	root.adoptedStyleSheets = [sheet];
}

export function createSheet(css: string): CSSStyleSheet {
	const created = new CSSStyleSheet();
	created.replaceSync(css);
	return created;
}
