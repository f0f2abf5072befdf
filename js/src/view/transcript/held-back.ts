// What a run that sends no values says below an output: the model has not seen it, and may be shown it.

import { currentState } from "../../actions.ts";
import { h, listen } from "../../dom.ts";
import type { ToolRow } from "../../state.ts";
import { type Context, follow, STOP_HINT } from "../context.ts";

export function createHeldBack(context: Context, row: ToolRow): Node[] {
	const { run, choices, signal, notify } = context;
	if (currentState(context).settings.data !== "schema" || row.change) return [];
	const line = h("p", { class: "anb-cap" }, "Only you see this. The model got names, types and shapes.");
	if (!run.busy || choices.replay) return [line];
	const button = h("button", { class: "anb-btn sm", type: "button" }, "Show the model");
	listen(button, "click", signal, () => {
		const reply = run.command("show_output", { variant: choices.variant, call_id: row.call_id });
		follow(context, reply, STOP_HINT, (result) => {
			button.disabled = result.done;
			notify(result.done ? "It goes to the model with the next result." : result.why);
		});
	});
	return [line, button];
}
