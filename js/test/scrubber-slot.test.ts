import { expect, test } from "vitest";
import type { Context, Snapshot } from "../src/view/context.ts";
import { createScrubberSlot } from "../src/view/replay/scrubber-slot.ts";

test("a replay whose code the kernel does not send is left, and says why", async () => {
	const tape = {};
	const choices = { replay: { tape }, variant: 0, arrangement: "one", note: "" };
	const run = { tape: () => tape, command: async () => ({ ok: false, error: "The kernel is gone." }) };
	let drawn = 0;
	const context = { choices, run, signal: new AbortController().signal, redraw: () => drawn++ };
	const variants = new Map([[0, { busy: false, turns: [1] }]]);
	const slot = createScrubberSlot(context as unknown as Context);
	slot.update({ variants: [{}], run: { variants } } as unknown as Snapshot);
	await expect.poll(() => choices.replay).toBe(null);
	expect(choices.note).toContain("the replay cannot be opened");
	expect(drawn).toBeGreaterThan(0);
});
