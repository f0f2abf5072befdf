import { afterEach, beforeEach, describe, expect, test } from "vitest";
import widget from "../src/widget.ts";
import { Kernel, soon } from "./kernel.ts";
import { tell } from "./stage.ts";

const FIRST = '<div data-anb-run="k" data-anb-id="r1"></div>';

describe("the place of a run under way", () => {
	/** The notebook's only cell, as JupyterLab holds it. */
	let outputs: { data: Record<string, string> }[];
	let kernel: Kernel;
	let stop: () => void;

	beforeEach(async () => {
		outputs = [{ data: { "text/plain": "1" } }, { data: { "text/html": FIRST } }];
		const cell = {
			getId: () => "cell",
			getOutputs: () => [...outputs],
			updateOutputs: (start: number, end: number, next: typeof outputs) =>
				outputs.splice(start, end - start, ...next),
		};
		const context = { model: { sharedModel: { cells: [{}, cell] } } };
		kernel = Object.assign(new Kernel("notebook"), { widget_manager: { context } });
		stop = widget.initialize({ model: kernel as never });
		await draw(FIRST);
		tell(kernel, 1, 4);
	});

	afterEach(() => stop());

	async function draw(html: string): Promise<void> {
		document.body.querySelector(".jp-Cell")?.remove();
		document.body.insertAdjacentHTML("beforeend", `<div class="jp-Cell">${html}</div>`);
		await soon();
	}
	const bar = (): Element | null => document.querySelector(".anb-away");
	const reported = (): unknown[] => kernel.commands("placed").map(({ placed }) => placed);

	test("a widget's view beside the run's own output stays empty", () => {
		const view = document.body.appendChild(document.createElement("div"));
		widget.render({ model: kernel as never, el: view });
		expect(document.querySelector("[data-anb-run]")!.shadowRoot!.textContent).toContain("Hello");
		expect(view.shadowRoot).toBeNull();
		view.remove();
	});

	test("a run whose output was cleared is shown in a bar until it has a place again", async () => {
		const cleared = outputs.splice(0);
		await draw("");
		expect(bar()?.shadowRoot?.querySelector(".name")?.textContent).toBe("hero");
		expect(reported()).toEqual([false]);
		outputs.push(...cleared);
		await draw(FIRST);
		expect(bar()).toBeNull();
		expect(reported()).toEqual([false, true]);
	});

	test("the bar leaves with the end of the run, and with the hub", async () => {
		outputs = [];
		await draw("");
		tell(kernel, 5, 9);
		expect(bar()).toBeNull();
		expect(reported()).toEqual([false]);
		tell(kernel, 1, 3, "r2");
		await draw(FIRST.replace("r1", "r2"));
		await draw("");
		expect(bar()).not.toBeNull();
		stop();
		expect(bar()).toBeNull();
	});

	test("a cell that is only out of sight keeps its place", async () => {
		await draw("");
		tell(kernel, 5, 6);
		expect(bar()).toBeNull();
		expect(reported()).toEqual([]);
	});

	test("the result replaces a first frame that the kernel did not reach", async () => {
		tell(kernel, 5, 9);
		expect(kernel.commands("result")).toEqual([]);
		kernel.say({ kind: "ready", line: "ready", digest: "one" });
		const [asked] = kernel.commands("result");
		kernel.answer(asked, { ok: true, data: { "text/html": "the result" } });
		await soon();
		expect(outputs).toEqual([{ data: { "text/plain": "1" } }, { data: { "text/html": "the result" } }]);
		kernel.say({ kind: "ready", line: "ready", digest: "one" });
		expect(kernel.commands("result")).toHaveLength(1);
	});

	describe("after the page was loaded again without its outputs", () => {
		beforeEach(async () => {
			outputs = [];
			stop();
			await draw("");
			stop = widget.initialize({ model: kernel as never });
		});

		async function restore(cell_id: string): Promise<void> {
			const lost = { key: "k", run_id: "r1", cell_id, data: { "text/html": FIRST } };
			kernel.answer(kernel.commands("under_way").at(-1), { ok: true, runs: [lost] });
			await soon();
			kernel.answer(kernel.commands("hello").at(-1), { ok: true, run_id: "r1", window: 1 });
			await soon();
			tell(kernel, 1, 4);
		}

		test("the run's first frame is put into its cell again", async () => {
			await restore("cell");
			expect(outputs).toEqual([{ output_type: "display_data", data: { "text/html": FIRST }, metadata: {} }]);
			expect(bar()).toBeNull();
		});

		test("a run whose cell was not saved is in the bar", async () => {
			await restore("unsaved");
			expect(outputs).toEqual([]);
			expect(bar()?.shadowRoot?.querySelector(".name")?.textContent).toBe("hero");
			expect(reported()).toEqual([false]);
		});
	});

	test("a cell that is pasted after the end gets the result, too", async () => {
		outputs = [];
		await draw("");
		tell(kernel, 5, 9);
		kernel.say({ kind: "ready", line: "ready", digest: "one" });
		await soon();
		expect(kernel.commands("result")).toEqual([]);
		outputs.push({ data: { "text/html": FIRST } });
		await draw(FIRST);
		expect(kernel.commands("result")).toHaveLength(1);
	});
});
