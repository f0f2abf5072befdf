// A button that puts a cell below this one, with the text of that cell beside it:
//
//     const load = createCellButton(context, "Load");
//     footer.append(load.element);
//     load.update(isName(name) ? `%agent load ${name}` : null);   // null hides it
//
// Names in the text must have passed `isName`. The user runs the cell.

import { isReadable, placeCell } from "../../cells.ts";
import { h, listen, setText } from "../../dom.ts";
import type { Context } from "../context.ts";

/** `onInserted` is not called where the text was only copied. */
export function createCellButton(context: Context, label: string, onInserted?: () => void) {
	const button = h("button", { class: "anb-btn sm", type: "button", title: "Insert this cell below" }, label);
	const code = h("code");
	const element = h("span", { class: "anb-cell", hidden: true }, button, code);

	insertOnClick(context, button, () => code.textContent ?? "", onInserted);

	return {
		element,
		/** Shows the exact text of the cell, or hides the button. */
		update(text: string | null) {
			element.hidden = text === null || !isReadable(text);
			if (!element.hidden) setText(code, text ?? "");
		},
	};
}

/** Makes the button insert a cell with a text that the user has read, there or on the card that asked about it. */
export function insertOnClick(
	context: Context,
	button: HTMLElement,
	text: () => string,
	onInserted?: () => void,
): void {
	listen(button, "click", context.signal, async (click) => {
		const placed = await placeCell(context.run, click, text());
		if (placed === "copied") context.notify("Copied: paste it into a cell");
		else if (placed === "inserted") {
			context.announce("Cell inserted below: press Shift+Enter to run it");
			onInserted?.();
		} else if (click.isTrusted) context.notify("The browser did not allow copying");
	});
}
