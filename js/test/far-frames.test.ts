import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepFarFramesOut } from "../src/host/far-frames.ts";
import { WholeScreen } from "./kernel.ts";

const PAGE = "<style>p {}</style><h1>Slow  bread</h1><script>let secret = 1</script><p>Open at 7</p>";
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

let abort: AbortController;
let scroller: HTMLElement;
let now = 0;

beforeEach(() => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "performance"] });
	abort = new AbortController();
	const outer = `<iframe srcdoc="${escaped(`<iframe srcdoc="${escaped(PAGE)}"></iframe>`)}"></iframe>`;
	const output = `<p data-anb-run><span class="anb-stage">${outer}</span></p>`;
	document.body.innerHTML = `<div>${output.repeat(3)}<b data-anb-live></b></div>`;
	scroller = document.querySelector("div")!;
	keepFarFramesOut(abort.signal);
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
	return document.querySelector("b")!.style.getPropertyValue("--anb-frames") === "hidden";
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

test("frames come back when the widget goes", () => {
	expect(scrolled(0, 50, 100, 150)).toBe(true);
	abort.abort();
	expect(isHidden()).toBe(false);
});

/** Scrolls the stages to where they are near the screen, or far from it, and waits. */
function place(isNear: boolean): void {
	for (const stage of document.querySelectorAll(".anb-stage")) WholeScreen.scroll(stage, isNear);
	vi.advanceTimersByTime(2000);
}

const frames = (): HTMLIFrameElement[] => [...document.querySelectorAll("iframe")];

async function started(): Promise<HTMLIFrameElement[]> {
	vi.advanceTimersByTime(2000);
	await Promise.resolve();
	return frames();
}

test("a page far from the screen leaves its text, and is the same frame when it comes back", async () => {
	const before = await started();
	expect(before).toHaveLength(3);
	place(false);
	expect(frames()).toHaveLength(0);
	expect(document.querySelector(".anb-stage")!.textContent).toBe("Slow bread Open at 7");
	place(true);
	expect(frames()).toEqual(before);
	expect(document.querySelector(".anb-stage")!.textContent).toBe("");
});

test("nothing is loaded while the notebook is scrolled fast", async () => {
	await started();
	place(false);
	scrolled(0, 50, 100, 150);
	for (const stage of document.querySelectorAll(".anb-stage")) WholeScreen.scroll(stage, true);
	expect(frames()).toHaveLength(0);
	vi.advanceTimersByTime(400);
	expect(frames()).toHaveLength(3);
});

test("a page that somebody has clicked into stays", async () => {
	const [used] = await started();
	used!.tabIndex = 0;
	used!.focus();
	window.dispatchEvent(new Event("blur"));
	place(false);
	expect(frames()).toEqual([used]);
});

test("outputs that come later are looked at when the notebook is scrolled", async () => {
	await started();
	scroller.append(scroller.firstElementChild!.cloneNode(true));
	scroll(10);
	await started();
	place(false);
	expect(frames()).toHaveLength(0);
});

test("all pages come back when the widget goes, and stay", async () => {
	await started();
	place(false);
	abort.abort();
	expect(frames()).toHaveLength(3);
	vi.advanceTimersByTime(2000);
	expect(frames()).toHaveLength(3);
});

test("a page under a live interface stays away", async () => {
	await started();
	place(false);
	const output = scroller.firstElementChild!;
	output.setAttribute("data-anb-live", "");
	place(true);
	expect(frames()).toHaveLength(2);
	output.removeAttribute("data-anb-live");
	place(true);
	expect(frames()).toHaveLength(3);
});
