// The call that a card asks about: as text, or as fields once Edit has been pressed.

import { h, icon, setText } from "../../dom.ts";
import { changedNames } from "../../json.ts";
import type { Draft } from "../../questions.ts";
import type { ToolRow } from "../../state.ts";
import { createArguments, createChange } from "./arguments.ts";

/** `changed` is called after each change to a field. */
export function createCall(changed: () => void) {
	const element = h("div", { class: "in" });
	const changes = createChanges();

	function draw(row: ToolRow, draft: Draft): void {
		const { form, editing, args } = draft;
		const proposed = row.args ?? {};
		if (form && editing) {
			form.onChange = (next, problems) => {
				Object.assign(draft, { args: next, problems });
				changes.update(proposed, next);
				changed();
			};
			changes.update(proposed, args);
			element.replaceChildren(form.element, changes.element);
		} else element.replaceChildren(...createArguments(proposed, args ?? proposed, row.schema));
	}

	return { element, draw };
}

/** While the user edits, a fold with what differs from the proposal. */
function createChanges() {
	const label = h("span");
	const body = h("div");
	const summary = h("summary", null, icon("right", "chev"), label);
	const element = h("details", { class: "anb-args", ontoggle: draw }, summary, body);
	let [before, after] = [{}, {}];

	function draw(): void {
		const names = element.open ? changedNames(before, after) : [];
		body.replaceChildren(...names.map((name) => createChange(name, before, after)));
	}

	return {
		element,
		update(proposed: object, args: object | null) {
			[before, after] = [proposed, args ?? proposed];
			element.hidden = args === null;
			setText(label, `changed: ${changedNames(before, after).join(", ")}`);
			draw();
		},
	};
}
