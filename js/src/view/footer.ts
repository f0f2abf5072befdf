// The last line: which variables are ready, or what to do when the kernel does not answer. Hidden when there is
// nothing to show.

import { copyText } from "../actions.ts";
import { h, setAttribute, withCode } from "../dom.ts";
import { iconButton } from "./buttons.ts";
import type { Context, Snapshot } from "./context.ts";

export function createFooter(context: Context) {
	const line = h("span", { class: "ready" });
	const copy = iconButton(context, "copy", "Copy the name", () => void copyText(context, code));
	const paths = h("span", { class: "wide paths" });
	const gap = h("span", { class: "sp" });
	const element = h("footer", { class: "anb-foot", hidden: true }, line, copy, gap, paths);
	let shown = "";
	let code = "";

	return {
		element,
		update(snapshot: Snapshot) {
			const { ready } = snapshot.run;
			const warning = context.choices.note;
			const text = warning || (ready?.line ?? waitingLine(context, snapshot));
			if (shown === text) return;
			shown = text;
			code = warning || !ready ? "" : (/`([^`]+)`/.exec(text)?.[1] ?? "");
			element.hidden = text === "";
			copy.hidden = code === "";
			line.replaceChildren(...withCode(text));
			line.classList.toggle("warn", warning !== "");
			line.setAttribute("role", warning ? "alert" : "none");
			const saved = (ready?.paths ?? []).map((path) => `\`${path}\``).join(", ");
			paths.replaceChildren(...withCode(saved && `saved: ${saved}`));
			setAttribute(paths, "title", paths.textContent);
		},
	};
}

/** Keeps room for the final line, so that no preview changes its size at the end. */
function waitingLine(context: Context, { run, variants }: Snapshot): string {
	const pending = variants.length > 1 && (context.run.busy || context.run.digest === null);
	return pending ? `\`${run.meta.name}\` is set when all variants have ended` : "";
}
