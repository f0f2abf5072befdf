// Several runs on one page: folded to their headers, and leading to each other.

import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Event, Meta } from "../src/run/events.ts";
import { LAB, STAGE_CLASS, STAGED, VERSION } from "../src/run/lab.ts";
import { changed, done, finished, type Loose, script, started, text, tool, turn } from "./events.ts";
import { META, soon } from "./kernel.ts";
import { kernel } from "./stage.ts";

const DONE = finished();

/** Sends a run. */
async function run(name: string, more: { base?: string; folds?: boolean; end?: boolean } = {}) {
	const { base = null, folds = false, end = true } = more;
	document.body.insertAdjacentHTML("beforeend", `<section><div data-anb-run="${name}"></div></section>`);
	const events: Event[] = script({ ...started, base }, turn, text("Hi."), ...(end ? [DONE] : []));
	const number = document.querySelectorAll("[data-anb-run]").length;
	const meta: Meta = { ...META, key: name, name, folds, number };
	kernel.batch(1, events, { run_id: `id of ${name}`, meta });
	await soon();
}

const shown = (name: string): ShadowRoot => document.querySelector(`[data-anb-run="${name}"]`)!.shadowRoot!;
const isFolded = (name: string): boolean => shown(name).querySelector(".anb-frame")!.matches(".shut");
const links = (name: string): string[] =>
	[...shown(name).querySelectorAll(".anb-chain button")].map((link) => link.getAttribute("aria-label") ?? "");

async function pressFold(name: string): Promise<void> {
	shown(name).querySelector<HTMLButtonElement>(".anb-shut")!.click();
	await soon();
}

beforeEach(() => document.body.replaceChildren());

/** The stage of the notebook, which has the second output of a run. */
async function putOnStage(key: string) {
	const panel = document.createElement("aside");
	panel.className = STAGE_CLASS;
	panel.innerHTML = `<section><div data-anb-run="${key}"></div></section>`;
	const setView = vi.fn();
	const stage = { key, contains: (element: Element) => panel.contains(element), setView };
	let isOpen = true;
	const lab = { version: VERSION, hasStages: true, setRuns() {}, stage: () => (isOpen ? stage : null) };
	vi.stubGlobal(LAB as unknown as string, lab);
	document.body.append(panel);
	window.dispatchEvent(new Event(STAGED));
	await soon();
	const close = async (): Promise<void> => {
		isOpen = false;
		panel.remove();
		window.dispatchEvent(new Event(STAGED));
		await soon();
	};
	return { panel, setView, close };
}

describe("while the notebook has a stage", () => {
	test("runs fold to their headers, also one under way that is shown there, and unfold when it is closed", async () => {
		await run("one");
		await run("two", { end: false });
		await run("three", { end: false });
		const { panel, close } = await putOnStage("two");
		expect([isFolded("one"), isFolded("two"), isFolded("three")]).toEqual([true, true, false]);
		const view = panel.querySelector("[data-anb-run]")!.shadowRoot!;
		expect(view.querySelector(".anb-frame")!.matches(".shut")).toBe(false);
		await pressFold("two");
		expect(isFolded("two")).toBe(false);
		await close();
		expect([isFolded("one"), isFolded("two"), isFolded("three")]).toEqual([false, false, false]);
	});

	test("its view shows the result alone and reports its versions", async () => {
		await run("one");
		const { panel, setView } = await putOnStage("one");
		const [place, versions] = setView.mock.calls.at(-1)!;
		expect(place.key).toBe("one");
		expect(panel.contains(place.element.getRootNode().host)).toBe(true);
		expect(versions).toMatchObject({ moments: [], moment: null });
	});

	test("it is announced once, in its view there", async () => {
		await run("one", { end: false });
		const { panel } = await putOnStage("one");
		const views = [shown("one"), panel.querySelector("[data-anb-run]")!.shadowRoot!];
		const labels = views.map((view) => view.querySelector(".anb-frame")!.getAttribute("aria-label"));
		expect(labels).toEqual(["agent run one", "agent run one on the stage"]);
		kernel.batch(4, script(started, turn, text("Hi."), DONE).slice(3), {
			run_id: "id of one",
			meta: { ...META, key: "one" },
		});
		await soon();
		const spoken = views.map((view) => view.querySelector(".anb-head [role=status]")!.textContent);
		expect(spoken.map((words) => words.includes("done"))).toEqual([false, true]);
	});

	test("an output on the stage of another notebook is left to that one", async () => {
		vi.stubGlobal(LAB as unknown as string, { version: VERSION, setRuns() {}, stage: () => null });
		await run("one");
		const panel = document.body.appendChild(document.createElement("aside"));
		panel.className = STAGE_CLASS;
		panel.innerHTML = '<section><div data-anb-run="one"></div></section>';
		await soon();
		expect(panel.querySelector("[data-anb-run]")!.shadowRoot).toBeNull();
		expect(shown("one")).not.toBeNull();
	});
});

describe("a run folds to its header", () => {
	test("by its button, and unfolds by it", async () => {
		await run("one");
		expect(isFolded("one")).toBe(false);
		await pressFold("one");
		expect(isFolded("one")).toBe(true);
		expect(shown("one").querySelector(".anb-frame")!.getAttribute("data-letters")).toBe("/");
		await pressFold("one");
		expect(isFolded("one")).toBe(false);
	});

	test("but not while it goes on", async () => {
		await run("one", { end: false });
		await pressFold("one");
		expect(isFolded("one")).toBe(false);
	});

	test("when there is a newer one, if that is set, unless the user has unfolded it", async () => {
		await run("one", { folds: true });
		await run("two", { folds: true });
		expect([isFolded("one"), isFolded("two")]).toEqual([true, false]);
		await pressFold("one");
		await run("three", { folds: true });
		expect([isFolded("one"), isFolded("two"), isFolded("three")]).toEqual([false, true, false]);
	});

	test("only as long as the newest run says so", async () => {
		await run("one", { folds: true });
		await run("two");
		expect(isFolded("one")).toBe(false);
	});
});

describe("the runs of a conversation", () => {
	test("lead to each other", async () => {
		await run("one");
		await run("two", { base: "id of one" });
		await run("three", { base: "id of two" });
		expect(links("one")).toEqual(["Continued in two: go there"]);
		await run("again", { base: "id of one" });
		expect(links("one")).toEqual(["Continued in two: go there", "Continued in again: go there"]);
		expect(links("two")).toEqual(["Continues one: go there", "Continued in three: go there"]);
		let scrolled: Element | null = null;
		Element.prototype.scrollIntoView = function (this: Element) {
			scrolled = this;
		};
		shown("two").querySelector<HTMLElement>(".anb-chain button")!.click();
		expect(scrolled).toBe(document.querySelector('[data-anb-run="one"]'));
		expect(shown("one").activeElement?.getAttribute("aria-label")).toBe("Continued in two: go there");
	});

	test("lead nowhere when the output of the other is gone", async () => {
		await run("one");
		await run("two", { base: "id of one" });
		document.querySelector('[data-anb-run="one"]')!.parentElement!.remove();
		await run("other");
		expect([links("two"), links("other")]).toEqual([[], []]);
	});
});

describe("the row of a call", () => {
	async function row(summary: string): Promise<Element> {
		document.body.innerHTML = '<section><div data-anb-run="k"></div></section>';
		kernel.batch(1, script(started, turn, tool(), changed("a.html", 1), done({ summary }), finished()));
		await soon();
		return shown("k").querySelector(".anb-log .anb-row")!;
	}

	test("whose change says it all cannot be unfolded", async () => {
		expect((await row("")).matches("div.still")).toBe(true);
	});

	test("that has more to tell can", async () => {
		expect((await row("Drew 3 charts")).matches("details > summary")).toBe(true);
	});
});

test("only the newest run shows its field at rest", async () => {
	const isOlder = (name: string): boolean =>
		shown(name).querySelector(".anb-compose")!.classList.contains("older");
	await run("one");
	expect(isOlder("one")).toBe(false);
	await run("two");
	expect([isOlder("one"), isOlder("two")]).toEqual([true, false]);
});

describe("what the demo model suggests", () => {
	async function fieldAfter(...events: Loose[]): Promise<HTMLTextAreaElement> {
		document.body.innerHTML = '<section><div data-anb-run="k"></div></section>';
		const meta = { ...META, suggestions: [["make it blue", "add news"]] };
		kernel.batch(1, script(started, turn, ...events, finished()), { meta });
		await soon();
		return shown("k").querySelector<HTMLTextAreaElement>(".anb-askrow textarea")!;
	}
	function pressTab(field: HTMLTextAreaElement): boolean {
		return field.dispatchEvent(new KeyboardEvent("keydown", { key: "Tab", bubbles: true, cancelable: true }));
	}

	test("is in the empty field below the run, and Tab takes the first", async () => {
		const field = await fieldAfter(tool(), changed("index.html", 1), done());
		expect(field.placeholder).toBe("make it blue, add news (Tab)");
		expect(pressTab(field)).toBe(false);
		await soon();
		expect(field.value).toBe("make it blue");
		expect(shown("k").activeElement).toBe(field);
	});

	test("is not shown for an answer without a page", async () => {
		for (const events of [[text("No.")], [tool(), changed("data.json", 1), done()]]) {
			const field = await fieldAfter(...events);
			expect(field.placeholder).toBe("Ask a question or for a change…");
			expect(pressTab(field)).toBe(true);
		}
	});
});

test("an output that JupyterLab has collapsed is shown by its title, and others as they are", async () => {
	document.body.innerHTML =
		"<p class=jp-PlaceholderText>&lt;!-- one --&gt;</p><p class=jp-PlaceholderText></p>";
	const [other, own] = document.querySelectorAll(".jp-PlaceholderText");
	own!.textContent = "<!-- hero: stopped, at the limit -->";
	await soon();
	expect([other!.textContent, own!.textContent]).toEqual(["<!-- one -->", "hero: stopped, at the limit"]);
});
