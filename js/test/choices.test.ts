import { beforeEach, expect, test } from "vitest";
import { copyChoices, newChoices, resetRun } from "../src/view/choices.ts";
import { soon } from "./kernel.ts";
import { EVENTS, kernel } from "./stage.ts";

const BOTH = [0, 1].flatMap((variant) => EVENTS.map((event) => ({ ...event, variant })));

beforeEach(async () => {
	document.body.innerHTML = '<div id="one"><p data-anb-run="k"></p></div><div id="two"></div>';
	kernel.batch(1, BOTH);
	await soon();
	root("one").querySelector<HTMLElement>('[aria-label="One at a time"]')!.click();
	await soon();
});

function root(id: string): ShadowRoot {
	return document.querySelector(`#${id} [data-anb-run]`)!.shadowRoot!;
}

async function add(id: string): Promise<void> {
	document.querySelector(`#${id}`)!.innerHTML = '<p data-anb-run="k"></p>';
	await soon();
}

const selected = (id: string): (string | undefined)[] =>
	[...root(id).querySelectorAll(".anb-vars [aria-selected=true]")].map((tab) => tab.textContent?.slice(0, 9));

async function open(id: string, variant: number): Promise<void> {
	root(id).querySelectorAll<HTMLElement>(".anb-vars [role=tab]")[variant]!.click();
	await soon();
}

test("a new run forgets all choices but those about the view, and a copy what takes the focus", () => {
	const view = { tab: "code", device: "phone", scheme: "dark" };
	const focus = { question: "0 a 1", apply: 1 };
	const choices = Object.assign(newChoices(), { ...view, ...focus, line: 3, details: true, request: 2 });
	expect(copyChoices(choices)).toMatchObject({ line: 3, question: null, apply: null });
	resetRun(choices);
	expect(choices).toEqual(Object.assign(newChoices(), view));
});

test("a second view has choices of its own", async () => {
	await open("one", 1);
	await add("two");
	expect(selected("two")).toEqual(["Variant 2"]);
	await open("two", 0);
	kernel.say({ kind: "ready", line: "ready", variant: 0 });
	await soon();
	expect([selected("one"), selected("two")]).toEqual([["Variant 2"], ["Variant 1"]]);
});

test("a second view leaves the replay of the first", async () => {
	const play = (): HTMLElement => root("one").querySelector('[aria-label="Play"], [aria-label="Pause"]')!;
	root("one").querySelector<HTMLElement>(".anb-replay")!.click();
	await soon();
	await add("two");
	await soon();
	expect(play().getAttribute("aria-label")).toBe("Pause");
});

test("an output that comes back keeps its choices", async () => {
	await add("two");
	await open("two", 0);
	await open("one", 1);
	await add("one");
	expect([selected("one"), selected("two")]).toEqual([["Variant 2"], ["Variant 1"]]);
});

test("a cell that is run again begins with nothing chosen", async () => {
	for (const early of [true, false]) {
		const run_id = `again ${early}`;
		await open("one", 1);
		expect(selected("one")).toEqual(["Variant 2"]);
		// The events of the new run may come before its output, or after it.
		if (early) kernel.batch(1, BOTH, { run_id });
		document.querySelector("#one")!.innerHTML = `<p data-anb-run="k" data-anb-id="${run_id}"></p>`;
		await soon();
		if (!early) kernel.batch(1, BOTH, { run_id });
		await soon();
		root("one").querySelector<HTMLElement>('[aria-label="One at a time"]')!.click();
		await soon();
		expect(selected("one")).toEqual(["Variant 1"]);
	}
});
