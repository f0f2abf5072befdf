// Style sheets of modules that are loaded later, added to those of the widget.

/** A function that gives the root of an element these styles, once, before it is drawn: it may not be on the page yet. */
export function adopter(css: string): (element: HTMLElement) => void {
	let sheet: CSSStyleSheet | null = null;
	const adopt = (element: HTMLElement): void => {
		const root = element.getRootNode();
		if (!(root instanceof ShadowRoot)) return;
		if (!sheet) {
			sheet = new CSSStyleSheet();
			sheet.replaceSync(css);
		}
		if (!root.adoptedStyleSheets.includes(sheet))
			root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
	};
	return (element) => queueMicrotask(() => adopt(element));
}
