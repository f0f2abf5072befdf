// A page with one hub, for tests of what is mounted over outputs.

import { afterEach, beforeEach, vi } from "vitest";
import widget from "../src/widget.ts";
import { changed, done, finished, piece, script, started, text, thinking, tool, turn } from "./events.ts";
import { Kernel, soon } from "./kernel.ts";

export const EVENTS = script(
	started,
	turn,
	thinking("Hm."),
	text("Hello."),
	tool(),
	piece("index.html", 0, "<h1>Hi</h1>"),
	changed("index.html", 1),
	done(),
	finished(),
);

/** Sends the events of a run from `first` to `last`. */
export function tell(kernel: Kernel, first: number, last: number, run_id = "r1"): void {
	kernel.batch(first, EVENTS.slice(first - 1, last), { run_id });
}

export let kernel: Kernel;
export let stop: () => void;

beforeEach(() => {
	document.body.innerHTML = "";
	kernel = new Kernel();
	stop = widget.initialize({ model: kernel as never });
});

afterEach(() => {
	stop();
	vi.unstubAllGlobals();
});

export async function show(): Promise<void> {
	document.body.innerHTML = '<div class="cell"><div data-anb-run="k"><p>frozen</p></div></div>';
	await soon();
}

/** The intervals that are set from now on and not cleared, until the end of the test. */
export function runningTimers(): Set<unknown> {
	const timers = new Set<unknown>();
	const [set, clear] = [globalThis.setInterval, globalThis.clearInterval];
	vi.stubGlobal("setInterval", (...args: Parameters<typeof set>) => {
		const timer = set(...args);
		timers.add(timer);
		return timer;
	});
	vi.stubGlobal("clearInterval", (timer: never) => {
		timers.delete(timer);
		clear(timer);
	});
	return timers;
}
