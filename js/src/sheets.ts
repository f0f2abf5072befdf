// Style sheets of modules that are loaded later, added to those of the widget.

/** A function that gives the root of an element these styles, once. */
export function adopter(css: string): (element: HTMLElement) => void {
	let sheet: CSSStyleSheet | null = null;
	return (element) => {
		const root = element.getRootNode();
		if (!(root instanceof ShadowRoot)) return; // not on the page yet
		if (!sheet) {
			sheet = new CSSStyleSheet();
			sheet.replaceSync(css);
		}
		if (!root.adoptedStyleSheets.includes(sheet))
			root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
	};
}
