import { describe, expect, test, vi } from "vitest";
import { LAB, VERSION } from "../src/run/lab.ts";
import widget from "../src/widget.ts";
import { finished, script, started, text, turn } from "./events.ts";
import { Kernel, META, output, shadow, soon } from "./kernel.ts";
import { EVENTS, kernel, runningTimers, show, stop, tell } from "./stage.ts";

describe("mounting", () => {
	test("an output says hello and waits frozen", async () => {
		await show();
		expect(kernel.sent[0]).toMatchObject({ kind: "command", command: "hello", key: "k" });
		expect(output().shadowRoot).toBeNull();
	});

	test("a cell that is run again says hello again", async () => {
		await show();
		kernel.answer(kernel.commands("hello")[0], { ok: true, run_id: "r1" });
		tell(kernel, 1, 9);
		await soon();
		tell(kernel, 1, 2, "r2");
		document.body.innerHTML = '<div class="cell"><div data-anb-run="k" data-anb-id="r2"></div></div>';
		await soon();
		expect(kernel.commands("hello")).toHaveLength(2);
		kernel.answer(kernel.commands("hello")[1], { ok: true, run_id: "r2" });
		tell(kernel, 3, 9, "r2");
		await soon();
		expect(kernel.commands("hello")).toHaveLength(2);
	});

	test("a page that shows no output of a run leaves it to others", async () => {
		document.body.innerHTML = '<div class="cell"><div data-anb-run="k" data-anb-outcome="one"></div></div>';
		await soon();
		kernel.answer(kernel.commands("hello")[0], { ok: true, run_id: "r1" });
		tell(kernel, 1, 9);
		kernel.say({ kind: "ready", line: "ready", digest: "one" });
		await soon();
		tell(kernel, 1, 2, "r2");
		await soon();
		expect(kernel.commands("hello")).toHaveLength(1);
	});

	test("a refused run stays frozen", async () => {
		await show();
		kernel.answer(kernel.sent[0], { ok: false, error: "unknown" });
		await soon();
		expect(output().shadowRoot).toBeNull();
	});

	test("the first batch mounts over the frozen form", async () => {
		await show();
		tell(kernel, 1, 4);
		expect(shadow().querySelector(".name")?.textContent).toBe("hero");
		expect(shadow().textContent).toContain("Hello");
		expect(shadow().querySelector("slot")).toBeNull();
	});

	test("a view that throws leaves the frozen form", async () => {
		await show();
		const logged = vi.spyOn(console, "error").mockImplementation(() => {});
		vi.stubGlobal(
			"ResizeObserver",
			class {
				constructor() {
					throw new TypeError("not in this browser");
				}
			},
		);
		output().innerHTML = "<iframe></iframe>";
		tell(kernel, 1, 4);
		tell(kernel, 5, 9);
		expect(output().shadowRoot).toBeNull();
		expect(output().querySelector("iframe")).not.toBeNull();
		expect(logged).toHaveBeenCalledTimes(1);
		logged.mockRestore();
	});

	test("a replaced output mounts again at once", async () => {
		await show();
		tell(kernel, 1, 9);
		document.querySelector(".cell")!.innerHTML = '<div data-anb-run="k"><p>final</p></div>';
		await Promise.resolve();
		await Promise.resolve();
		expect(shadow().textContent).toContain("done");
	});

	test("the interface stays when the result replaces the first frame", async () => {
		document.body.innerHTML = '<div class="jp-RenderedHTML"><p data-anb-run="k" data-anb-id="r1"></p></div>';
		await soon();
		tell(kernel, 1, 9);
		const node = document.querySelector(".jp-RenderedHTML")!;
		const interior = node.shadowRoot!.querySelector(".anb");
		expect(interior).not.toBeNull();
		node.innerHTML = '<p data-anb-run="k" data-anb-outcome="one"><iframe></iframe></p>';
		await soon();
		expect(node.shadowRoot!.querySelector(".anb")).toBe(interior);
		expect(node.querySelector("iframe")).toBeNull();
		kernel.say({ kind: "ready", line: "ready", digest: "one" });
		await soon();
		expect(node.shadowRoot!.querySelector(".anb")).toBe(interior);
		node.innerHTML = "<p>something else</p>";
		await soon();
		expect(node.shadowRoot!.querySelector("slot")).not.toBeNull();
	});

	test("two outputs of a run both live", async () => {
		await show();
		tell(kernel, 1, 4);
		document.body.insertAdjacentHTML("beforeend", '<div id="two" data-anb-run="k"></div>');
		await soon();
		tell(kernel, 5, 9);
		await soon();
		for (const element of document.querySelectorAll("[data-anb-run]")) {
			expect(element.shadowRoot!.querySelector(".phase")!.textContent).toBe("done");
		}
	});

	test("a closed hub gives the frozen form back", async () => {
		await show();
		tell(kernel, 1, 4);
		stop();
		expect(shadow().querySelector("slot")).not.toBeNull();
		expect(shadow().querySelector(".anb")).toBeNull();
		expect(output().hasAttribute("data-lm-suppress-shortcuts")).toBe(false);
	});

	test("a view shows the newest run", () => {
		tell(kernel, 1, 9);
		const el = document.createElement("div");
		document.body.append(el);
		const unmount = widget.render({ model: kernel as never, el })!;
		expect(el.shadowRoot!.textContent).toContain("Hello.");
		unmount();
		expect(el.shadowRoot!.querySelector(".anb")).toBeNull();
	});

	test("a view that came first shows the first run", () => {
		const [el, closed] = [document.createElement("div"), document.createElement("div")];
		document.body.append(el, closed);
		widget.render({ model: kernel as never, el });
		widget.render({ model: kernel as never, el: closed })!();
		tell(kernel, 1, 9);
		expect(el.shadowRoot!.textContent).toContain("Hello.");
		expect(closed.shadowRoot).toBeNull();
		expect(kernel.commands("hello")).toHaveLength(1);
	});

	test("a view may be filled before it is placed", async () => {
		tell(kernel, 1, 9);
		const other = document.createElement("p");
		document.body.append(other);
		const el = document.createElement("div");
		widget.render({ model: kernel as never, el });
		other.remove();
		await soon();
		document.body.append(el);
		await soon();
		expect(el.shadowRoot!.querySelector(".anb-frame")).not.toBeNull();
	});

	test("a finished run out of sight has no timer and no frame", async () => {
		let look: (sees: boolean) => void = () => {};
		vi.stubGlobal(
			"IntersectionObserver",
			class {
				constructor(tell: (entries: unknown[]) => void) {
					look = (sees) => tell([{ target: shadow().querySelector(".anb-right"), isIntersecting: sees }]);
				}
				observe(): void {}
				disconnect(): void {}
			},
		);
		const timers = runningTimers();
		const alive = (): number[] => [timers.size, shadow().querySelectorAll("iframe").length];
		await show();
		tell(kernel, 1, 6);
		await soon();
		expect(alive()).toEqual([1, 0]); // the clock of the run
		tell(kernel, 7, 9);
		await soon();
		expect(alive()).toEqual([0, 0]);
		look(true);
		await soon();
		expect(alive()).toEqual([1, 1]); // the pings of the frame
		look(false);
		await soon();
		expect(alive()).toEqual([0, 0]);
	});

	test("unmounting leaves no listener and no timer", async () => {
		const added = new Set<unknown>();
		const real = window.addEventListener.bind(window);
		const add = vi.spyOn(window, "addEventListener").mockImplementation(((
			type: string,
			listener: EventListener,
			options: AddEventListenerOptions,
		) => {
			added.add(listener);
			options?.signal?.addEventListener("abort", () => added.delete(listener));
			real(type, listener, options);
		}) as never);
		const timers = runningTimers();
		await show();
		tell(kernel, 1, 9);
		await soon();
		expect(timers.size).toBeGreaterThan(0);
		expect(added.size).toBeGreaterThan(0);
		document.body.innerHTML = "";
		await soon();
		expect([...timers]).toEqual([]);
		expect([...added]).toEqual([]);
		add.mockRestore();
		vi.unstubAllGlobals();
	});
});

describe("several kernels", () => {
	const phase = (): string | null | undefined => shadow().querySelector(".phase")?.textContent;

	test("a re-run after a restart belongs to the new kernel", async () => {
		await show();
		tell(kernel, 1, 9);
		const second = new Kernel("2");
		const stopSecond = widget.initialize({ model: second as never });
		await soon();
		tell(second, 1, 3, "r2");
		document.querySelector(".cell")!.innerHTML = '<div data-anb-run="k"></div>';
		await soon();
		expect(phase()).toBe("thinking");
		tell(kernel, 1, 9);
		await soon();
		expect(phase()).toBe("thinking");
		stopSecond();
	});

	test("an output that names its run is no other kernel's", async () => {
		tell(kernel, 1, 9, "older");
		document.body.innerHTML =
			'<div class="cell"><div data-anb-run="k" data-anb-id="newer"><p>frozen</p></div></div>';
		await soon();
		expect(output().shadowRoot).toBeNull();
		const other = new Kernel("2");
		const stopOther = widget.initialize({ model: other as never });
		tell(other, 1, 4, "newer");
		await soon();
		expect(shadow().querySelector(".anb")).not.toBeNull();
		expect(shadow().textContent).not.toContain("done");
		stopOther();
	});

	test("finished outputs stay with the kernel that made them", async () => {
		const second = new Kernel("2");
		const stopSecond = widget.initialize({ model: second as never });
		document.body.innerHTML = ["one", "two"]
			.map(
				(outcome) => `<div class="jp-Notebook"><p data-anb-run="k" data-anb-outcome="${outcome}"></p></div>`,
			)
			.join("");
		await soon();
		const shown = (): string[] =>
			[...document.querySelectorAll("[data-anb-run]")].map(
				(element) => element.shadowRoot?.querySelector(".name")?.textContent ?? "frozen",
			);
		second.batch(1, EVENTS, { run_id: "r2", meta: { ...META, name: "second", digest: "two" } });
		await soon();
		expect(shown()).toEqual(["frozen", "second"]);
		kernel.batch(1, EVENTS, { meta: { ...META, name: "first", digest: "one" } });
		await soon();
		expect(shown()).toEqual(["first", "second"]);
		stopSecond();
	});

	test("after a reload a run stands in for the one before", async () => {
		document.body.innerHTML =
			'<div class="jp-Notebook"><p data-anb-run="k" data-anb-outcome="older"></p></div>';
		await soon();
		tell(kernel, 1, 3);
		expect(phase()).toBe("thinking");
	});

	test("a copy that is run leaves the other its result", async () => {
		document.body.innerHTML =
			'<div class="jp-Cell"><p data-anb-run="k" data-anb-outcome="one"></p></div><div class="jp-Cell" id="b"></div>';
		kernel.batch(1, EVENTS, { meta: { ...META, digest: "one" } });
		await soon();
		expect(phase()).toBe("done");
		tell(kernel, 1, 3, "r2");
		expect(shadow().querySelector("slot")).not.toBeNull();
		document.querySelector("#b")!.innerHTML = '<p data-anb-run="k" data-anb-id="r2"></p>';
		await soon();
		expect(shadow().querySelector("slot")).not.toBeNull();
		expect(document.querySelector("#b p")?.shadowRoot?.querySelector(".phase")?.textContent).toBe("thinking");
	});

	test("an output drawn again stays with its kernel", async () => {
		document.body.innerHTML = '<div class="jp-Cell" id="a"></div><div class="jp-Cell" id="b"></div>';
		const second = new Kernel("2");
		const stopSecond = widget.initialize({ model: second as never });
		const draw = async (id: string): Promise<Element> => {
			document.querySelector(`#${id}`)!.innerHTML = '<div data-anb-run="k"></div>';
			await soon();
			return document.querySelector(`#${id} [data-anb-run]`)!;
		};
		const phase = (element: Element): string =>
			element.shadowRoot?.querySelector(".phase")?.textContent ?? "";
		tell(kernel, 1, 9);
		await draw("a");
		await soon();
		tell(second, 1, 3, "r2");
		expect(phase(await draw("b"))).toBe("thinking");
		expect(phase(await draw("a"))).toBe("done");
		expect(phase(await draw("b"))).toBe("thinking");
		stopSecond();
	});

	/** A kernel whose status a test can change, on the page until `stopIt` is called. */
	function mortal(id: string, context?: object) {
		let say: (sender: unknown, status?: string) => void = () => {};
		const connect = (slot: typeof say): void => {
			say = slot;
		};
		const signal = { connect, disconnect: () => {} };
		const kernel = { statusChanged: signal, disposed: signal };
		const model = Object.assign(new Kernel(id), { widget_manager: { kernel, context } });
		const stopIt = widget.initialize({ model: model as never });
		return { model, stopIt, become: (status?: string) => say(null, status) };
	}

	test("a run whose kernel is restarted stays as it was seen", async () => {
		const { model, stopIt, become } = mortal("3");
		const draw = async (): Promise<void> => {
			document.body.innerHTML = '<div class="cell"><div data-anb-run="k" data-anb-id="r1"></div></div>';
			await soon();
		};
		await draw();
		tell(model, 1, 6);
		become("restarting");
		tell(model, 7, 9); // it sends on until it is killed
		await soon();
		for (const again of [false, true]) {
			if (again) await draw();
			expect(phase()).toBe("the kernel was restarted");
			expect(shadow().textContent).toContain("Hello.");
			expect(shadow().querySelector(".anb-ver .which")?.textContent).toBe("unfinished, not kept");
			expect(shadow().querySelector<HTMLElement>(".anb-stop")?.hidden).toBe(true);
			expect(shadow().querySelector(".anb-foot .ready")?.textContent).toBe(
				"hero is not in this kernel: the kernel was restarted. Run the cell again.",
			);
		}
		stopIt();
	});

	test("a run cut off by a restart says so, and Retry loads the extension and runs its cell again", async () => {
		const source = "%%agent hero -t kernel\nA page";
		const outputs = [{ data: { "text/html": '<div data-anb-run="k">' } }];
		const cell = { getSource: () => source, getOutputs: () => outputs };
		const lab = {
			version: VERSION,
			insert: vi.fn((_at, _cells, _press, _runs) => true),
			setRuns: vi.fn(),
			stage: () => null,
		};
		vi.stubGlobal(LAB as unknown as string, lab);
		const { model, stopIt, become } = mortal("3", { model: { sharedModel: { cells: [cell] } } });
		await show();
		tell(model, 1, 6);
		model.answer(model.commands("hello").at(-1), { ok: true, run_id: "r1", window: 1 });
		become("restarting");
		await soon();
		const card = shadow().querySelector<HTMLElement>(".anb-card")!;
		expect(card.querySelector("h4")?.textContent).toBe("The kernel was restarted");
		const [load, shown] = card.querySelectorAll<HTMLElement>(".anb-cell:not([hidden])");
		expect(load?.textContent).toBe("Load what was saved%load_ext agent_nb\n%agent load hero");
		expect(shown?.textContent).toBe(`Retry%load_ext agent_nb${source}`);
		const press = new MouseEvent("click");
		Object.defineProperty(press, "isTrusted", { value: true });
		shown!.querySelector("button")!.dispatchEvent(press);
		await soon();
		const inserted = lab.insert.mock.calls.map(([, [cell], , runs]) => [cell.source, runs]);
		expect(inserted).toEqual([
			["%load_ext agent_nb", true],
			[source, true],
		]);
		expect(lab.setRuns.mock.calls.map(([, count]: unknown[]) => count)).toEqual([1, 0]);
		stopIt();
	});

	test.each([
		["with the extension", VERSION, ["Insert as a cell", "Copy code"], ["Copy code"]],
		["without it", 0, ["Copy code"], ["Copy code"]],
	])("code in an answer is copied or inserted %s", async (_how, version, python, other) => {
		const lab = {
			version,
			insert: vi.fn((_at, _cells, _press, _runs) => true),
			setRuns: vi.fn(),
			stage: () => null,
		};
		const writeText = vi.fn(() => Promise.resolve());
		vi.stubGlobal(LAB as unknown as string, lab);
		vi.stubGlobal("navigator", { clipboard: { writeText } });
		const { model, stopIt } = mortal("3", { model: { sharedModel: { cells: [] } } });
		const answer = text("So:\n\n```python\nx = 1\ny\n```\n\n```bash\nls\n```\n");
		await show();
		model.batch(1, script(started, turn, answer));
		await soon();
		expect(shadow().querySelector(".anb-snippet")).toBeNull(); // it is still being written
		model.batch(4, script(finished()), { meta: undefined });
		await soon();
		const blocks = [...shadow().querySelectorAll(".anb-snippet")];
		const labels = blocks.map((block) =>
			[...block.querySelectorAll("button")].map((one) => one.getAttribute("aria-label") ?? one.textContent),
		);
		expect(labels).toEqual([python, other]);
		for (const button of blocks[0]!.querySelectorAll("button")) {
			const press = new MouseEvent("click");
			Object.defineProperty(press, "isTrusted", { value: true });
			button.dispatchEvent(press);
		}
		await soon();
		const inserted = lab.insert.mock.calls.map(([, cells, , runs]) => [cells, runs]);
		expect(inserted).toEqual(version ? [[[{ kind: "code", source: "x = 1\ny" }], false]] : []);
		expect(writeText).toHaveBeenCalledExactlyOnceWith("x = 1\ny");
		stopIt();
	});

	test.each([
		["agent", "%agent load hero"],
		["robot", '%config AgentMagics.magic_name = "robot"\n%robot load hero'],
	])("a finished run whose kernel is restarted offers to load it with %%%s", async (magic, lines) => {
		const { model, stopIt, become } = mortal("3");
		await show();
		model.batch(1, EVENTS, { meta: { ...META, magic } });
		const paths = [".agent_nb/runs/hero.json"];
		model.say({ kind: "ready", line: "`hero` is ready", variant: 0, paths, digest: "d" });
		await soon();
		const foot = (): string | null | undefined => shadow().querySelector(".anb-foot .ready")?.textContent;
		const cell = (): HTMLElement =>
			shadow().querySelector<HTMLElement>(".anb-foot .anb-cell:not(.anb-code-runs)")!;
		expect([foot(), cell().hidden]).toEqual(["hero is ready", true]);
		become("autorestarting");
		await soon();
		expect([foot(), cell().hidden]).toEqual(["Not in this kernel:", false]);
		expect(cell().querySelector("code")?.textContent).toBe(`%load_ext agent_nb\n${lines}`);
		expect(phase()).toBe("done");
		stopIt();
	});

	test("a run whose notebook gets another kernel says so", async () => {
		const { model, stopIt, become } = mortal("3");
		await show();
		tell(model, 1, 4);
		become("busy");
		expect(phase()).not.toBe("the kernel was changed");
		become();
		await soon();
		expect(phase()).toBe("the kernel was changed");
		stopIt();
	});

	test("an output that appears after a restart belongs to the new kernel", async () => {
		const { model, stopIt, become } = mortal("3");
		await show();
		tell(model, 1, 9);
		become("restarting");
		const sent = model.sent.length;
		document.querySelector(".cell")!.innerHTML = '<div data-anb-run="k"></div><p data-anb-run="other"></p>';
		await soon();
		expect(output().shadowRoot).toBeNull();
		expect(model.sent.length).toBe(sent);
		tell(kernel, 1, 3, "r2");
		expect(phase()).toBe("thinking");
		stopIt();
	});
});
