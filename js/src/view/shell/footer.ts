// The last line: which variables are ready, or what to do when the kernel does not answer. Hidden when there is
// nothing to show.

import { copyText } from "../../actions.ts";
import { isName } from "../../cells.ts";
import { h, setAttribute, withCode } from "../../dom.ts";
import type { Context, Snapshot } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";
import { createCellButton } from "../shared/cell-button.ts";

export function createFooter(context: Context) {
	const line = h("span", { class: "ready" });
	const copy = iconButton(context, "copy", "Copy the name", () => void copyText(context, code));
	const load = createCellButton(context, "Load", { runs: true });
	const paths = h("span", { class: "wide paths" });
	const gap = h("span", { class: "sp" });
	const element = h("footer", { class: "anb-foot", hidden: true }, line, copy, load.element, gap, paths);
	let shown = "";
	let code = "";

	return {
		element,
		update(snapshot: Snapshot) {
			const { ready, lost } = snapshot.run;
			const warning = context.choices.note;
			const text = warning || lineOf(context, snapshot);
			if (shown === text) return;
			shown = text;
			load.update(warning ? null : loadCell(snapshot));
			code = warning || lost || !ready ? "" : (/`([^`]+)`/.exec(text)?.[1] ?? "");
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

function lineOf(context: Context, snapshot: Snapshot): string {
	const { ready, lost, meta } = snapshot.run;
	if (!lost) return ready?.line ?? waitingLine(context, snapshot);
	if (loadCell(snapshot)) return "Not in this kernel:";
	return `\`${meta.name}\` is not in this kernel: ${lost}. Run the cell again.`;
}

/** Loads a run that the kernel no longer has; null if it has it, or if the run was not saved. */
function loadCell({ run: { lost, meta, ready } }: Snapshot): string | null {
	const saved = lost && ready?.paths.some((path) => path.startsWith(".agent_nb/"));
	const { name, magic } = meta;
	// A name given with `%config` is gone with its kernel.
	const rename = magic === "agent" ? "" : `%config AgentMagics.magic_name = "${magic}"\n`;
	return saved && isName(name) ? `%load_ext agent_nb\n${rename}%${magic} load ${name}` : null;
}

/** Keeps room for the final line, so that no preview changes its size at the end. */
function waitingLine(context: Context, { run, variants }: Snapshot): string {
	const pending = variants.length > 1 && (context.run.busy || context.run.digest === null);
	return pending ? `\`${run.meta.name}\` is set when all variants have ended` : "";
}
