import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
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
	/** The command that asks for the result. */
	const asked = () =>
		vi.waitFor(() => {
			const [command] = kernel.commands("result");
			expect(command).toBeDefined();
			return command;
		}, 4000);

	test("a widget's view beside the run's own output stays empty", () => {
		const view = document.body.appendChild(document.createElement("div"));
		widget.render({ model: kernel as never, el: view });
		expect(document.querySelector("[data-anb-run]")!.shadowRoot!.textContent).toContain("Hello");
		expect(view.shadowRoot).toBeNull();
		view.remove();
	});

	test("the result replaces a first frame that the kernel did not reach", async () => {
		tell(kernel, 5, 9);
		expect(kernel.commands("result")).toEqual([]);
		kernel.say({ kind: "ready", line: "ready", digest: "one" });
		expect(kernel.commands("result")).toEqual([]);
		kernel.answer(await asked(), { ok: true, data: { "text/html": "the result" } });
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
			const lost = { run_id: "r1", cell_id, data: { "text/html": FIRST } };
			kernel.answer(kernel.commands("under_way").at(-1), { ok: true, runs: [lost] });
			await soon();
		}

		test("the run's first frame is put into its cell again, and then its result", async () => {
			await restore("cell");
			expect(outputs).toEqual([{ output_type: "display_data", data: { "text/html": FIRST }, metadata: {} }]);
			tell(kernel, 1, 9);
			kernel.say({ kind: "ready", line: "ready", digest: "one" });
			kernel.answer(await asked(), { ok: true, data: { "text/html": "the result" } });
			await soon();
			expect(outputs).toMatchObject([{ data: { "text/html": "the result" } }]);
		});

		test("a run whose cell is gone is not shown", async () => {
			await restore("unsaved");
			tell(kernel, 1, 4);
			expect(outputs).toEqual([]);
			expect(document.querySelector("[data-anb-run]")).toBeNull();
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
		await asked();
	});
});
