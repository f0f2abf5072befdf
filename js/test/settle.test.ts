// When a page counts as settled: by frames and timers, whatever time they take.

import { afterEach, beforeEach, expect, test, vi } from "vitest";

const log: string[] = [];
const page = document.documentElement;

beforeEach(() => {
	vi.resetModules();
	log.length = 0;
	vi.stubGlobal("scrollTo", ({ top }: ScrollToOptions) => log.push(`at ${top}`));
	Object.defineProperty(page, "scrollHeight", { configurable: true, value: 3 * innerHeight });
	Object.assign(document, { images: [], fonts: { ready: Promise.resolve() }, getAnimations: () => [] });
});

afterEach(() => {
	vi.unstubAllGlobals(); // first: it restores the fake `requestAnimationFrame`
	vi.useRealTimers();
	for (const name of ["images", "fonts", "getAnimations"]) Reflect.deleteProperty(document, name);
	Reflect.deleteProperty(page, "scrollHeight");
});

/** The module saves the functions of the window when it is loaded. */
const load = () => import("../src/page/check/settle.ts");

test("a check stays at each place of the page for two frames, also when they are late", async () => {
	vi.stubGlobal("requestAnimationFrame", (draw: () => void) =>
		setTimeout(() => {
			log.push("frame");
			draw();
		}, 100),
	);
	await (await load()).settle();
	const places = [innerHeight, 2 * innerHeight, 0].flatMap((top) => [`at ${top}`, "frame", "frame"]);
	expect(log).toEqual(places);
});

test("a busy machine is no quiet page", async () => {
	vi.stubGlobal("requestAnimationFrame", queueMicrotask);
	const { settle } = await load();
	setTimeout(() => {
		const end = performance.now() + 300;
		while (performance.now() < end);
	}, 10);
	setTimeout(() => document.body.append("late"), 60);
	await settle();
	expect(document.body.textContent).toBe("late");
});

test("a check ends in a frame outside of the screen, where nothing is drawn", async () => {
	vi.useFakeTimers();
	vi.stubGlobal("requestAnimationFrame", () => 0);
	const settled = (await load()).settle().then(() => log.push("settled"));
	await vi.advanceTimersByTimeAsync(5000);
	expect(log.at(-1)).toBe("settled");
	await settled;
});
