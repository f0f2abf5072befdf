// A field of one line that grows with its text.

import { h, listen } from "../../dom.ts";
import type { Context } from "../context.ts";

export function createField({ signal }: Context, label: string, placeholder: string) {
	const element = h("textarea", { class: "anb-field", rows: 1, "aria-label": label, placeholder });
	let holder: { text: string } = { text: "" };
	function grow(): void {
		element.style.height = "";
		if (element.scrollHeight > element.clientHeight) element.style.height = `${element.scrollHeight + 2}px`;
	}
	listen(element, "input", signal, () => {
		holder.text = element.value;
		grow();
	});
	return {
		element,
		update(next: { text: string }) {
			holder = next;
			if (element.value === next.text) return;
			element.value = next.text;
			grow();
		},
	};
}
