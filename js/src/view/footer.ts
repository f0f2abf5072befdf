// The last line: which variables are ready, or what to do when the kernel does not answer. It is there only when
// it has something to say.

import { copyText } from "../actions.ts";
import { h, icon, setAttribute, withCode } from "../dom.ts";
import type { Context, Moment } from "./context.ts";

export function createFooter(context: Context) {
	const line = h("span", { class: "ready" });
	const copy = h(
		"button",
		{ class: "anb-ic", type: "button", "aria-label": "Copy the name", title: "Copy the name" },
		icon("copy"),
	);
	const paths = h("span", { class: "wide paths" });
	const element = h(
		"footer",
		{ class: "anb-foot", hidden: true },
		line,
		copy,
		h("span", { class: "sp" }),
		paths,
	);
	let shown = "";
	let code = "";
	copy.addEventListener("click", () => copyText(context, code), { signal: context.signal });

	return {
		element,
		update({ run, options }: Moment) {
			const note = context.choices.note || (context.run.busy ? "" : (run.ready?.error ?? ""));
			// Its place is kept for the line that follows, so that no preview changes its size at the end.
			const pending = options.length > 1 && (context.run.busy || !run.meta.finished);
			const waiting = pending ? `\`${run.meta.name}\` is set when all options have ended` : "";
			const text = note || (run.ready?.line ?? waiting);
			if (shown === text) return;
			shown = text;
			code = note || !run.ready ? "" : (/`([^`]+)`/.exec(text)?.[1] ?? "");
			element.hidden = text === "";
			copy.hidden = code === "";
			line.replaceChildren(...withCode(text));
			line.classList.toggle("warn", note !== "");
			line.setAttribute("role", note ? "alert" : "none");
			const saved = (run.ready?.paths ?? []).map((path) => `\`${path}\``).join(", ");
			paths.replaceChildren(...withCode(saved && `saved: ${saved}`));
			setAttribute(paths, "title", paths.textContent);
		},
	};
}
