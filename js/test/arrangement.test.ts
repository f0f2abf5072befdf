import { expect, test, vi } from "vitest";
import type { Context, Snapshot } from "../src/view/context.ts";
import { createPlace } from "../src/view/variants/arrangement.ts";

test("the place of several variants is empty until their code is there, or is late", async () => {
	vi.useFakeTimers();
	const run = { command: () => new Promise(() => {}) };
	const redraw = vi.fn();
	const context = { run, redraw, choices: {}, signal: new AbortController().signal };
	const place = createPlace(context as unknown as Context);
	place.update({ variants: [{}, {}] } as unknown as Snapshot);
	await vi.advanceTimersByTimeAsync(2000);
	expect(redraw).not.toHaveBeenCalled();
	expect(place.element.childElementCount).toBe(0);
	await vi.advanceTimersByTimeAsync(2000);
	expect(redraw).toHaveBeenCalled();
	vi.useRealTimers();
});
