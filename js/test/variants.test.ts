import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Event } from "../src/run/events.ts";
import type { VariantState } from "../src/run/state.ts";
import { factsOfAll, phaseOfAll, shortModel, spokenOfAll, toVariants } from "../src/run/variants.ts";
import widget from "../src/widget.ts";
import {
	changed,
	finished,
	type Loose,
	piece,
	play,
	script,
	started,
	text,
	thinking,
	tool,
	turn,
	USAGE,
} from "./events.ts";
import { Kernel, META, shadow, soon, still, WholeScreen } from "./kernel.ts";

const ask: Loose = {
	type: "approval_requested",
	call_id: "c1",
	name: "run",
	title: "run it",
	args: { code: "1" },
};
const spent = (cost: number | null): Loose => ({
	type: "usage_updated",
	usage: USAGE,
	cost,
	estimated: true,
});
const on = (model: string): Loose => ({ ...started, model });
const optionsOf = (...states: VariantState[]) =>
	toVariants(states.map((state, number) => ({ number, state, now: state.at })));

describe("all variants together", () => {
	const writing = play(script(started, turn, tool(), piece("index.html", 0, "<h1>")));
	const asking = play(script(started, turn, ask));
	const done = play(script(started, turn, text("Done."), finished()));
	const failed = play(script(started, finished("failed", "No key.")));

	test("the phase counts what most are doing", () => {
		expect(phaseOfAll(optionsOf(writing, done, writing))).toBe("2 of 3 writing, 1 done");
		expect(phaseOfAll(optionsOf(writing, done, asking))).toBe(
			"1 of 3 waiting for approval, 1 writing, 1 done",
		);
		expect(phaseOfAll(optionsOf(done, done))).toBe("2 of 2 done");
		expect(phaseOfAll(optionsOf(failed, done, done))).toBe("2 of 3 done, 1 failed");
	});

	test("only endings and questions are announced", () => {
		const thinks = play(script(started, turn, thinking("Hm.")));
		expect(spokenOfAll(optionsOf(writing, done, thinks))).toBe("1 of 3 ended");
		expect(spokenOfAll(optionsOf(writing, done, writing))).toBe("1 of 3 ended");
		expect(spokenOfAll(optionsOf(asking, done, thinks))).toBe("1 of 3 ended, 1 waiting for approval");
		expect(spokenOfAll(optionsOf(failed, done))).toBe("1 of 2 done, 1 failed");
	});

	test("models are named where they differ", () => {
		const same = optionsOf(play(script(on("openai:gpt"))), play(script(on("openai:gpt"))));
		expect(same.map((variant) => variant.label)).toEqual(["Variant 1", "Variant 2"]);
		const two = optionsOf(play(script(on("openai:gpt"))), play(script(on("anthropic:opus"))));
		expect(two.map((variant) => variant.label)).toEqual(["Variant 1 · gpt", "Variant 2 · opus"]);
		const clash = optionsOf(play(script(on("openai:gpt"))), play(script(on("openrouter:gpt"))));
		expect(clash.map((variant) => variant.model)).toEqual(["openai:gpt", "openrouter:gpt"]);
		expect([shortModel("demo:"), shortModel("ollama:llama3:8b")]).toEqual(["demo", "llama3:8b"]);
	});

	test("costs add up, the longest time counts", () => {
		const one = play(script(on("openai:gpt"), spent(0.25)));
		const two = play(script(on("anthropic:opus"), turn, turn, spent(0.5)));
		const none = play(script(on("ollama:llama"), spent(null)));
		expect(factsOfAll(optionsOf(one, two, none))).toMatchObject({
			model: "3 models",
			usage: { input: 30, output: 15 },
			cost: 0.75,
			estimated: true,
			now: 3,
		});
		expect(factsOfAll(optionsOf(none)).cost).toBeNull();
	});
});

class Several extends Kernel {
	#last = 0;
	/** Sends every event once for each of the variants. */
	tell(variants: number[], ...events: Loose[]): void {
		const all: Event[] = variants.flatMap((variant) =>
			script(...events).map((event) => ({ ...event, variant })),
		);
		const meta = { ...META, model: "openai:gpt, anthropic:opus", demo: false };
		this.batch(this.#last + 1, all, { meta });
		this.#last += all.length;
	}
	ready(variant: number, picked: boolean, applies: number[] = []): void {
		const features = { branch: Object.fromEntries(applies.map((number) => [number, { applies: true }])) };
		const line = `\`hero\` is variant ${variant + 1}`;
		this.say({ kind: "ready", line, variant, picked, features });
	}
}

describe("several variants on the page", () => {
	const page = [tool(), piece("index.html", 0, "<h1>Hi</h1>")];
	const models = ["openai:gpt", "anthropic:opus", "gemini:flash"];
	let model: Several;
	let stop: () => void;

	const all = (query: string): HTMLElement[] => [...shadow().querySelectorAll<HTMLElement>(query)];
	const texts = (query: string): (string | null)[] => all(query).map((element) => element.textContent);
	const visible = (query: string): HTMLElement[] =>
		all(query).filter((element) => !element.closest("[hidden]"));
	const named = (name: string): HTMLButtonElement =>
		shadow().querySelector<HTMLButtonElement>(`[aria-label="${name}"]`)!;
	const press = (element: Element, key: string): boolean =>
		element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
	const spoken = (): string | null => shadow().querySelector("[aria-live=assertive]")!.textContent;

	beforeEach(async () => {
		localStorage.clear();
		document.body.innerHTML = '<div class="jp-Cell"><div data-anb-run="k"><p>frozen</p></div></div>';
		model = new Several();
		stop = widget.initialize({ model: model as never });
		for (const [number, name] of models.entries()) model.tell([number], on(name), turn);
		await soon();
	});

	afterEach(() => {
		stop();
		vi.unstubAllGlobals();
	});

	async function choose(name: "One at a time" | "Grid" | "Side by side"): Promise<void> {
		named(name).click();
		await soon();
	}

	async function end(...variants: number[]): Promise<void> {
		model.tell(variants, ...page, changed("index.html", 1), text("A page."), finished());
		await soon();
	}

	test("the grid shows each with its model", () => {
		expect(texts(".anb-variant b")).toEqual(["Variant 1", "Variant 2", "Variant 3"]);
		expect(texts(".anb-variant .model")).toEqual(["gpt", "opus", "flash"]);
		expect(texts(".anb-vars [role=tab] .model")).toEqual([" · gpt", " · opus", " · flash"]);
		expect(shadow().querySelector(".phase")!.textContent).toBe("3 of 3 thinking");
	});

	test("the footer announces only what is to come", async () => {
		const footer = (): HTMLElement => shadow().querySelector<HTMLElement>(".anb-foot")!;
		expect(footer().querySelector(".ready")?.textContent).toBe("hero is set when all variants have ended");
		const meta = { ...META, digest: "d" };
		const events = [0, 1].flatMap((variant) =>
			script(on("demo:"), turn, finished()).map((event) => ({ ...event, variant })),
		);
		model.batch(1, events, { run_id: "shown again", meta });
		await soon();
		expect(footer().hidden).toBe(true);
		expect(visible(".anb-variant .model")).toEqual([]);
	});

	test("only cells in sight have frames", async () => {
		model.tell([0, 1, 2], ...page);
		await soon();
		await choose("One at a time");
		await choose("Grid");
		const frames = (): number[] => all(".anb-variant").map((cell) => cell.querySelectorAll("iframe").length);
		for (const isSeen of [false, true]) {
			WholeScreen.scroll(all(".anb-variant .shot")[2]!, isSeen);
			await soon();
			expect(frames()).toEqual([1, 1, Number(isSeen)]);
		}
	});

	test("what is not shown is not built", async () => {
		model.tell([0, 1, 2], ...page);
		await soon();
		expect(all("iframe")).toHaveLength(3);
		named("Open Variant 2 · opus").click();
		await soon();
		expect(all(".anb-variant")).toHaveLength(0);
		expect(all("iframe")).toHaveLength(1);
		expect(shadow().querySelector("[role=tab][aria-selected=true]")!.textContent).toContain("Variant 2");
		expect(shadow().querySelector(".anb-body")!.getAttribute("aria-label")).toBe("Variant 2 · opus");
	});

	test("the arrangement is remembered, opening a variant is not", async () => {
		const chosen = (): string | null | undefined =>
			shadow().querySelector("[role=radio][aria-checked=true]")?.getAttribute("aria-label");
		const again = async (run_id: string): Promise<void> => {
			for (const [index, variant] of [0, 1].entries()) {
				const events = script(started).map((event) => ({ ...event, variant }));
				const range = { first: index + 1, last: index + 1 };
				model.say({ kind: "batch", run_id, ...range, events, meta: META });
			}
			await soon();
		};
		await choose("Side by side");
		named("Variant 1 · gpt");
		all("[role=tab]")[1]!.click();
		await soon();
		expect(chosen()).toBe("One at a time");
		await again("r2");
		expect(chosen()).toBe("Side by side");
		localStorage.setItem("agent_nb.layout", '{"arrangement": "pile"}');
		await again("s3");
		expect(chosen()).toBe("Grid");
	});

	test("stop names its variant, or none", () => {
		named("Stop Variant 2 · opus").click();
		named("Stop Variant 2 · opus")?.click();
		expect(model.commands("stop")).toMatchObject([{ variant: 1 }]);
		shadow().querySelector<HTMLElement>(".anb-stop button")!.click();
		expect(model.commands("stop")).toHaveLength(2);
		expect(model.commands("stop")[1]).not.toHaveProperty("variant");
	});

	test("a variant that ended cannot be stopped", async () => {
		await end(0);
		expect(visible(".anb-variant .anb-stop-one").map((button) => button.getAttribute("aria-label"))).toEqual([
			"Stop Variant 2 · opus",
			"Stop Variant 3 · flash",
		]);
	});

	test("a variant that ended can be picked before the others", async () => {
		await end(0);
		expect(named("Pick Variant 2 · opus").disabled).toBe(true);
		expect(named("Pick Variant 2 · opus").title).toBe("Still running: wait for it, or stop it");
		const pick = named("Pick Variant 1 · gpt");
		expect(pick.title).toBe("Stop the others and use this one as `hero`");
		pick.click();
		expect(model.commands("pick")).toMatchObject([{ variant: 0 }]);
		model.answer(model.commands("pick")[0]!, { ok: true });
		await end(1, 2);
		model.ready(0, true);
		await soon();
		expect(named("Picked Variant 1 · gpt").textContent).toBe("Picked");
	});

	test("picked is what the kernel says", async () => {
		await end(0, 1, 2);
		model.ready(0, false);
		await soon();
		expect(visible(".anb-vars .anb-held").map((mark) => mark.textContent)).toEqual(["in hero"]);
		expect(visible(".anb-held.picked")).toHaveLength(0);
		const pick = named("Pick Variant 2 · opus");
		expect(pick.title).toBe("Use this one as `hero`");
		pick.click();
		pick.click();
		expect(model.commands("pick")).toMatchObject([{ variant: 1 }]);
		model.answer(model.commands("pick")[0]!, { ok: true });
		await soon();
		expect(named("Picked Variant 2 · opus")).toBeNull();
		model.ready(1, true);
		await soon();
		expect(named("Picked Variant 2 · opus").textContent).toBe("Picked");
		expect(all(".anb-variant.picked").map((cell) => cell.getAttribute("aria-label"))).toEqual([
			"Variant 2 · opus",
		]);
		expect(texts(".anb-foot .ready")).toEqual(["hero is variant 2"]);
	});

	test("a picked variant that ran in a branch offers to apply its code", async () => {
		await end(0, 1, 2);
		const offers = (): (string | null)[] =>
			visible("[aria-label^=Apply]").map((button) => button.getAttribute("aria-label"));
		for (const picked of [false, true]) {
			expect(offers()).toEqual([]);
			model.ready(1, picked, [0, 1]);
			await soon();
		}
		expect(offers()).toEqual(["Apply Variant 2 · opus"]);
		named("Apply Variant 2 · opus").click();
		await soon();
		expect(model.commands("apply")).toMatchObject([{ variant: 1 }]);
		expect(named("One at a time").getAttribute("aria-checked")).toBe("true");
	});

	test("a refused pick says why", async () => {
		await end(0, 1, 2);
		model.ready(0, false);
		await soon();
		named("Pick Variant 3 · flash").click();
		model.answer(model.commands("pick")[0]!, { ok: false, error: "`hero` is something else now." });
		await soon();
		expect(shadow().querySelector(".anb-foot")!.textContent).toContain("hero is something else now.");
		expect(named("Pick Variant 3 · flash").textContent).toBe("Pick");
	});

	test("a question out of sight is announced", async () => {
		model.tell([1], ask);
		await soon();
		expect(spoken()).toBe("Variant 2 · opus asks: run it");
		expect(visible(".anb-asks")).toHaveLength(1);
		named("Answer Variant 2 · opus: run it").click();
		await still();
		shadow().querySelector<HTMLElement>(".anb-card.ask .primary")!.click();
		expect(model.commands("approve")).toMatchObject([{ variant: 1, call_id: "c1" }]);
	});

	test("a question in sight is announced by its card", async () => {
		all("[role=tab]")[2]!.click();
		await soon();
		model.tell([2], ask);
		await soon();
		expect(spoken()).toBe("Approval needed: run it");
	});

	test("a cell shows the beginning of the last text", async () => {
		const long = "## A **page** ".padEnd(5000, "and more ");
		model.tell([2], text(long));
		await soon();
		expect(texts(".anb-variant .say")[2]).toMatch(/^A page and more /);
		expect(texts(".anb-variant .say")[2]?.length).toBeLessThan(500);
	});

	test("one that failed leaves the others", async () => {
		model.tell([1], finished("failed", "Set `OPENAI_API_KEY`."));
		await end(0);
		expect(texts(".anb-variant .say")).toEqual(["A page.", "Set OPENAI_API_KEY.", ""]);
		expect(shadow().querySelector(".phase")!.textContent).toBe("1 of 3 thinking, 1 done, 1 failed");
		await choose("Side by side");
		expect(visible(".anb-col .why").map((why) => why.textContent)).toEqual(["Set OPENAI_API_KEY."]);
		await end(2);
		expect(shadow().querySelector(".anb-head .anb-dot")!.className).toContain("ok");
	});

	test("arrow keys move, the focus follows", async () => {
		const tabs = all("[role=tab]");
		tabs[0]!.focus();
		press(tabs[0]!, "ArrowRight");
		await soon();
		expect(shadow().activeElement?.textContent).toContain("Variant 2");
		expect(all("[role=tab]")[1]!.getAttribute("aria-selected")).toBe("true");
		press(shadow().activeElement!, "End");
		await soon();
		expect(shadow().activeElement?.textContent).toContain("Variant 3");
		press(named("One at a time"), "ArrowRight");
		await soon();
		expect(shadow().activeElement?.getAttribute("aria-label")).toBe("Grid");
		expect(all(".anb-variant")).toHaveLength(3);
	});
});
