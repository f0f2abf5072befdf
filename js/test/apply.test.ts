// Apply: where it is offered, the gate of its card, and what came of it.

import { beforeEach, expect, test, vi } from "vitest";
import { done, finished, type Loose, script, started, text, tool, turn } from "./events.ts";
import { META, shadow, soon, still } from "./kernel.ts";
import { kernel, show } from "./stage.ts";

const ran: Loose = { type: "tool_ready", call_id: "c1", title: "run Python", args: { code: "x = 1" } };
const EVENTS = script(
	{ ...started, settings: { branch: true } },
	turn,
	tool(),
	ran,
	done(),
	text("Done."),
	finished(),
);
const OFFER = { ok: true, code: "x = 1\ny\u202e = 2", problem: "", question: "q1", applied: false };

const place = (): Element => shadow().querySelector(".anb-item:has(.anb-names.left)")!;
const named = (label: string): HTMLButtonElement | undefined =>
	[...place().querySelectorAll("button")].findLast((button) => button.textContent === label);
const toast = (): string => shadow().querySelector(".anb-toast")?.textContent ?? "";
const press = (label: string): boolean =>
	named(label)!.dispatchEvent(new MouseEvent("click", { detail: 1, bubbles: true }));

async function ask(offer: object): Promise<void> {
	press("Apply");
	kernel.answer(kernel.commands("apply").at(-1), { ...OFFER, ...offer });
	await soon();
}

async function reply(command: string, fields: object): Promise<void> {
	kernel.answer(kernel.commands(command).at(-1), { ok: true, ...fields });
	await soon();
}

beforeEach(async () => {
	await show();
	kernel.batch(1, EVENTS, { meta: { ...META, features: { branch: { 0: { applies: true } } } } });
	await soon();
});

test("is offered by the kernel of the run alone", async () => {
	expect(named("Apply")).toBeDefined();
	await ask({});
	kernel.say({
		kind: "ready",
		line: "",
		variant: 0,
		paths: [],
		digest: "d",
		features: { branch: { 1: { applies: true } } },
	});
	await soon();
	expect([named("Apply"), place().querySelector(".anb-card")]).toEqual([undefined, null]);
});

test("runs what was shown after a press that counts, and is undone", async () => {
	const below = vi
		.spyOn(Element.prototype, "getBoundingClientRect")
		.mockReturnValue(new DOMRect(0, 0, 9, 9999));
	const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
	await ask({});
	const card = place().querySelector(".anb-card")!;
	expect(card.querySelector(".in")?.textContent).toContain("x = 1\ny<U+202E> = 2");
	expect(card.textContent).toContain("what it does to files and over the network, it does again.");
	expect(named("Show all 2 lines to approve")).toBeTruthy();
	press("Apply");
	expect(toast()).toContain("that press did not count");
	clock.mockRestore();
	await still();
	press("Apply");
	expect(toast()).toBe("Scroll to the end first, or press Show all.");
	expect(named("Apply")!.title).toBe(toast());
	expect(kernel.commands("apply")).toHaveLength(1);
	below.mockRestore();
	await vi.waitFor(() => expect(named("Apply")!.hasAttribute("aria-disabled")).toBe(false), {
		timeout: 4000,
	});
	press("Apply");
	press("Apply");
	expect(kernel.commands("apply").slice(1)).toMatchObject([{ variant: 0, question: "q1" }]);
	await reply("apply", { text: "Applied `hero`. Set x." });
	expect(place().textContent).toContain("Applied hero. Set x.Undo");
	press("Undo");
	await reply("unapply", { text: "Removed: x." });
	expect([place().textContent?.endsWith("Removed: x."), named("Undo")]).toEqual([true, undefined]);
});

test("says why it should not run, and offers it nevertheless, with Undo if it was applied", async () => {
	await ask({ problem: "`rows` has changed since.", applied: true });
	expect(place().querySelector(".anb-acts")?.textContent).toContain("rows has changed since.");
	await still();
	expect(named("Undo")).toBeDefined();
	press("Apply anyway");
	await reply("apply", { ok: false, error: "That is no longer what was shown." });
	expect([toast(), kernel.commands("apply").at(-1)?.question]).toEqual([
		"That is no longer what was shown.",
		undefined,
	]);
	await reply("apply", OFFER);
	press("Cancel");
	expect(place().querySelector(".anb-card")).toBeNull();
});
