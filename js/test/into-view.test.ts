import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { awaitRun, showWhole, watchScrolling } from "../src/base/into-view.ts";

const abort = new AbortController();

beforeEach(() => {
	watchScrolling(abort.signal);
	window.dispatchEvent(new Event("pointerdown"));
});
afterEach(() => abort.abort());

/** Whether a run at this place in a view of 100 to 700 px is scrolled. */
async function isScrolled(top: number, bottom: number): Promise<boolean> {
	document.body.innerHTML = '<div style="overflow-y: auto"><p></p></div>';
	const run = document.querySelector("p")!;
	run.getBoundingClientRect = () => ({ top, bottom }) as DOMRect;
	run.parentElement!.getBoundingClientRect = () => ({ top: 100, bottom: 700 }) as DOMRect;
	run.scrollIntoView = vi.fn();
	showWhole(run);
	await new Promise(requestAnimationFrame);
	return vi.mocked(run.scrollIntoView).mock.calls.length > 0;
}

test("a run of which only the first lines can be seen is scrolled into view, unless the user has scrolled", async () => {
	expect(await isScrolled(650, 1200)).toBe(true);
	expect(await isScrolled(200, 690)).toBe(false);
	expect(await isScrolled(800, 1400)).toBe(false);
	expect(await isScrolled(50, 1200)).toBe(false);
	window.dispatchEvent(new Event("wheel"));
	expect(await isScrolled(650, 1200)).toBe(false);
	window.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", shiftKey: true }));
	expect(await isScrolled(650, 1200)).toBe(true);
});

test("a run that a press has started is scrolled into view from below the window, once", async () => {
	awaitRun();
	expect(await isScrolled(800, 1400)).toBe(true);
	expect(await isScrolled(800, 1400)).toBe(false);
	awaitRun();
	window.dispatchEvent(new Event("wheel"));
	expect(await isScrolled(800, 1400)).toBe(false);
});
