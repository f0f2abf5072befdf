// Runs that wait for an answer, in several notebooks.

import { expect, test, vi } from "vitest";
import type { Stages } from "../lab/cells.ts";
import type { App, Tracker, WidgetModule } from "../lab/jupyter.ts";
import { createActiveRuns } from "../lab/waiting.ts";

test("the status bar says how many questions wait, and leads to one after the other in all notebooks", async () => {
	let focus = "";
	const waiting = (key: string, questions = 1) => ({
		...{ key, questions, notebook: null, hasFocus: () => focus === key },
		answer() {
			focus = key;
		},
	});
	const runs = createActiveRuns({} as App, { find: () => undefined } as unknown as Tracker, {} as Stages);
	class Widget {
		readonly node = document.body.appendChild(document.createElement("div"));
		setHidden(hidden: boolean): void {
			this.node.hidden = hidden;
		}
	}
	runs.addTo({ registerStatusItem: () => {} }, { Widget } as unknown as WidgetModule);
	const button = document.querySelector("button")!;
	const says = (): [string, boolean] => [button.textContent, button.disabled];
	const [one, two] = [{}, {}];
	runs.setRuns(one, 3, []);
	expect(says()).toEqual(["3 agent runs", true]);
	runs.setRuns(one, 3, [waiting("a", 3), waiting("b")]);
	runs.setRuns(two, 1, [waiting("c")]);
	expect(says()).toEqual(["5 agent questions wait for you", false]);
	const visited: string[] = [];
	for (let turn = 0; turn < 4; turn++) {
		await runs.goToNext();
		visited.push(focus);
	}
	expect(visited).toEqual(["a", "b", "c", "a"]);
	runs.setRuns(one, 0, []);
	expect(says()).toEqual(["1 agent question waits for you", false]);
	runs.setRuns(two, 0, []);
	expect(button.parentElement!.hidden).toBe(true);
});

test.each([
	["in the notebook", document.body, 0],
	["left out, far from the screen", null, 1],
])(
	"the cell of a run that waits is scrolled to only if it is not drawn: %s",
	async (_, offsetParent, times) => {
		const html = '<div data-anb-run="a"></div>';
		const cell = { node: { offsetParent }, model: { outputs: { toJSON: () => [{ html }] } } };
		const scrollToItem = vi.fn(async () => {});
		const panel = {
			context: "notebook",
			node: { offsetParent: document.body },
			content: { widgets: [cell], scrollToItem },
		};
		const tracker = { find: () => panel } as unknown as Tracker;
		const runs = createActiveRuns({} as App, tracker, { get: () => null } as unknown as Stages);
		const answer = vi.fn();
		runs.setRuns({}, 1, [{ key: "a", notebook: {}, questions: 1, hasFocus: () => false, answer }]);
		await runs.goToNext();
		expect(answer).toHaveBeenCalledOnce();
		expect(scrollToItem).toHaveBeenCalledTimes(times);
	},
);
