// The notebook gets every key that means nothing to the part of the widget that has the focus.

import { expect, test, vi } from "vitest";
import { output, shadow } from "./kernel.ts";
import { kernel, show, tell } from "./stage.ts";

test.each([
	[".anb-tab", { key: "b" }, false],
	[".anb-tab", { key: "f" }, true],
	[".anb-tab", { key: "Enter" }, true],
	[".anb-tab", { key: "Enter", shiftKey: true }, false],
	[".anb-tab", { key: "s", ctrlKey: true }, false],
	["textarea", { key: "b" }, true],
	["textarea", { key: "s", ctrlKey: true }, false],
	["textarea", { key: "b", metaKey: true }, false],
	["textarea", { key: "v", ctrlKey: true }, true],
	["textarea", { key: "F1" }, false],
])("on %s, %o is a key of its own: %s", async (selector, key, own) => {
	await show();
	tell(kernel, 1, 4);
	const target = shadow().querySelector(selector);
	target?.dispatchEvent(new KeyboardEvent("keydown", { ...key, bubbles: true, composed: true }));
	expect(output().hasAttribute("data-lm-suppress-shortcuts")).toBe(own);
});

test("the notebook does not hear of what a field is about to do", async () => {
	await show();
	tell(kernel, 1, 4);
	const heard = vi.fn();
	output().addEventListener("beforeinput", heard);
	const undo = { inputType: "historyUndo", bubbles: true, composed: true, cancelable: true };
	shadow().querySelector("textarea")?.dispatchEvent(new InputEvent("beforeinput", undo));
	expect(heard).not.toHaveBeenCalled();
});
