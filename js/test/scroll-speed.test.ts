import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { hideFramesInFastScrolling } from "../src/scroll-speed.ts";

let abort: AbortController;
let scroller: HTMLElement;
let now = 0;

beforeEach(() => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "performance"] });
	abort = new AbortController();
	hideFramesInFastScrolling(abort.signal);
	document.body.innerHTML = `<div>${"<p data-anb-run></p>".repeat(12)}</div>`;
	scroller = document.querySelector("div")!;
});
afterEach(() => {
	abort.abort();
	vi.useRealTimers();
});

/** Scrolls to each place in turn, a frame after the other, long after the last time; returns whether frames are hidden. */
function scrolled(...tops: number[]): boolean {
	now += 60_000;
	for (const top of tops) scroll(top);
	return isHidden();
}

function scroll(top: number): void {
	now += 16;
	scroller.scrollTop = top;
	scroller.dispatchEvent(Object.defineProperty(new Event("scroll"), "timeStamp", { value: now }));
}

function isHidden(): boolean {
	return document.querySelector("p")!.style.getPropertyValue("--anb-frames") === "hidden";
}

test("frames are hidden while the notebook is scrolled fast, and come back when it rests", () => {
	expect(scrolled(0, 50, 100, 150)).toBe(true);
	vi.advanceTimersByTime(200);
	expect(isHidden()).toBe(false);
});

test("frames stay hidden until it is slow, also where a step is late", () => {
	expect(scrolled(0, 50, 100, 150)).toBe(true);
	vi.advanceTimersByTime(120);
	now += 300;
	scroll(300);
	vi.advanceTimersByTime(120);
	expect(isHidden()).toBe(true);
	scroll(305);
	vi.advanceTimersByTime(400);
	expect(isHidden()).toBe(false);
});

test("frames stay while somebody reads, and after a jump", () => {
	expect(scrolled(0, 10, 20, 30, 40)).toBe(false);
	expect(scrolled(0, 9000)).toBe(false);
	expect(scrolled(9000, 9005, 9010)).toBe(false);
});

test("frames stay where there are few", () => {
	document.querySelector("p")?.remove();
	expect(scrolled(0, 50, 100, 150)).toBe(false);
});

test("frames come back when the widget goes", () => {
	expect(scrolled(0, 50, 100, 150)).toBe(true);
	abort.abort();
	expect(isHidden()).toBe(false);
});
