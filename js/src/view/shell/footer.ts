// The last line: which variables are ready, or what to do if the kernel does not answer. Hidden if it is empty.

import { copyText } from "../../base/clipboard.ts";
import { h, setAttribute, setChildren, withCode } from "../../base/dom.ts";
import { type CellSource, cellSource } from "../../run/cell-source.ts";
import { type Context, followInFooter, INTERRUPTED, type Snapshot, STOP_HINT } from "../context.ts";
import { iconButton, textButton } from "../shared/buttons.ts";
import { createCellButton } from "../shared/cell-button.ts";

export function createFooter(context: Context) {
	const line = h("span", { class: "ready" });
	const copy = iconButton("copy", "Copy the name", () => void copyText(context, name));
	const load = createCellButton(context, "Load", { runs: true });
	const code = createRunningCode(context);
	const parts = [code.element, line, copy, load.element];
	const element = h("footer", { class: "anb-foot", hidden: true }, ...parts);
	copy.hidden = true;
	let name = "";

	return {
		element,
		update(snapshot: Snapshot) {
			const { ready, lost, meta } = snapshot.run;
			const { note } = context.choices;
			// An interruption does not replace the line: it is about a run that has ended.
			const warning = note === INTERRUPTED ? "" : note;
			const text = warning || `${note} ${lineOf(context, snapshot)}`.trim();
			code.update(snapshot);
			element.hidden = text === "" && code.element.hidden;
			load.update(warning ? null : loadCell(snapshot));
			name = warning || lost || !ready ? "" : meta.name;
			copy.hidden = name === "";
			setChildren(line, text, () => withCode(text));
			line.classList.toggle("warn", note !== "");
			setAttribute(line, "role", note ? "alert" : "none");
		},
	};
}

/** Says that code runs without approval, with a button that revokes it. */
function createRunningCode(context: Context) {
	const line = h("span");
	const button = textButton("Ask again", () => {
		for (const variant of variants) {
			const reply = context.run.command("ask_again", { variant });
			followInFooter(context, reply, STOP_HINT, () => {});
		}
	});
	const element = h("span", { class: "anb-cell anb-code-runs", hidden: true }, line, button);
	let variants: readonly number[] = [];
	return {
		element,
		update({ run }: Snapshot) {
			variants = context.run.busy ? (run.meta.running_code ?? []) : [];
			element.hidden = variants.length === 0;
			const where =
				run.variants.size > 1 ? ` in variant ${variants.map((number) => number + 1).join(", ")}` : "";
			line.replaceChildren(...withCode(`\`run_python\` is allowed for this run${where}`));
		},
	};
}

function lineOf(context: Context, snapshot: Snapshot): string {
	const { ready, lost, meta } = snapshot.run;
	if (!lost) return ready?.line ?? waitingLine(context, snapshot);
	if (loadCell(snapshot)) return "Not in this kernel:";
	return `\`${meta.name}\` is not in this kernel: ${lost}. Run the cell again.`;
}

/** The cell that loads a run the kernel no longer has; null if it has it, or if the run was not saved. */
function loadCell({ run: { lost, meta, ready } }: Snapshot): CellSource | null {
	const saved = lost && ready?.paths.some((path) => path.startsWith(".agent_nb/"));
	const { name, magic } = meta;
	return saved ? cellSource("load", { rename: magic, magic, name }) : null;
}

/** Reserves space for the final line, so that the preview does not resize at the end. */
function waitingLine(context: Context, { run, variants }: Snapshot): string {
	const pending = variants.length > 1 && (context.run.busy || context.run.digest === null);
	return pending ? `\`${run.meta.name}\` is set when all variants have ended` : "";
}
