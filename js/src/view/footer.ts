// The last line: which variables are ready. It is there only when it has something to say.

import { copyText } from "../actions.ts";
import { h, icon, withCode } from "../dom.ts";
import type { Context, Moment } from "./context.ts";

export function createFooter(context: Context) {
	const line = h("span", { class: "ready" });
	const copy = h(
		"button",
		{ class: "anb-ic", type: "button", "aria-label": "Copy the name", title: "Copy the name" },
		icon("copy"),
	);
	const paths = h("span", { class: "wide mut" });
	const element = h(
		"footer",
		{ class: "anb-foot", hidden: true },
		line,
		copy,
		h("span", { class: "sp" }),
		paths,
	);
	let shown: unknown = null;
	let code = "";
	copy.addEventListener("click", () => copyText(context, code), { signal: context.signal });

	return {
		element,
		update({ run }: Moment) {
			if (shown === run.ready) return;
			shown = run.ready;
			element.hidden = run.ready === null;
			if (!run.ready) return;
			const text = run.ready.error ?? run.ready.line;
			code = /`([^`]+)`/.exec(text)?.[1] ?? "";
			copy.hidden = code === "";
			line.replaceChildren(...withCode(text));
			line.classList.toggle("bad", Boolean(run.ready.error));
			paths.replaceChildren(...withCode((run.ready.paths ?? []).map((path) => `\`${path}\``).join(" ")));
		},
	};
}
