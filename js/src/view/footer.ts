// The last line: which variables are ready, or what to do when the kernel does not answer. It is there only when
// it has something to say.

import { copyText } from "../actions.ts";
import { h, setAttribute, withCode } from "../dom.ts";
import { iconButton } from "./buttons.ts";
import type { Context, Moment } from "./context.ts";

export function createFooter(context: Context) {
	const line = h("span", { class: "ready" });
	const copy = iconButton(context, "copy", "Copy the name", () => copyText(context, code));
	const paths = h("span", { class: "wide paths" });
	const gap = h("span", { class: "sp" });
	const element = h("footer", { class: "anb-foot", hidden: true }, line, copy, gap, paths);
	let shown = "";
	let code = "";

	return {
		element,
		update(moment: Moment) {
			const { ready } = moment.run;
			const warning = warningOf(context, moment);
			const text = warning || (ready?.line ?? waitingLine(context, moment));
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

/** What went wrong with a command, or with binding the names. */
function warningOf({ choices, run }: Context, moment: Moment): string {
	return choices.note || (run.busy ? "" : (moment.run.ready?.error ?? ""));
}

/** Holds the place of the line that follows, so that no preview changes its size at the end. */
function waitingLine(context: Context, { run, options }: Moment): string {
	const pending = options.length > 1 && (context.run.busy || !run.meta.finished);
	return pending ? `\`${run.meta.name}\` is set when all options have ended` : "";
}
