// An element that disappears hands the focus to the one that takes its place.

import { beforeEach, expect, test } from "vitest";
import type { Event } from "../src/run/events.ts";
import { changed, done, finished, piece, script, started, tool, turn } from "./events.ts";
import { META, shadow, soon } from "./kernel.ts";
import { kernel } from "./stage.ts";

const asks = [
	tool(),
	{ type: "approval_requested", call_id: "c1", name: "sh", title: "run it", args: {} },
] as const;
const wrote = [tool(), piece("index.html", 0, "<p>"), changed("index.html", 1), done()];

let last: number;

beforeEach(() => {
	document.body.innerHTML = '<div class="cell"><div data-anb-run="k"></div></div><input />';
	last = 0;
});

async function tell(events: readonly Event[]): Promise<void> {
	kernel.batch(last + 1, events, last ? { meta: undefined } : {});
	last += events.length;
	await soon();
}

const both = (...events: Parameters<typeof script>): Event[] =>
	[0, 1].flatMap((variant) => script(...events).map((event) => ({ ...event, variant })));
const find = (selector: string): HTMLElement => shadow().querySelector<HTMLElement>(selector)!;
const active = (): HTMLElement => shadow().activeElement as HTMLElement;
const resolved = { type: "approval_resolved", call_id: "c1", approved: true, note: "" } as const;

test("an answered question hands the focus to its row", async () => {
	await tell(script(started, turn, ...asks));
	find(".anb-acts .primary").focus();
	await tell(script(resolved));
	expect(active().localName).toBe("summary");
	expect(active().textContent).toContain("run it");
});

test("an answered question leaves a focus elsewhere alone", async () => {
	await tell(script(started, turn, ...asks));
	const elsewhere = document.querySelector("input")!;
	elsewhere.focus();
	await tell(script(resolved));
	expect(document.activeElement).toBe(elsewhere);
});

test("Stop hands the focus to Actions", async () => {
	await tell(script(started, turn, ...wrote));
	find(".anb-stop button").focus();
	await tell(script(finished("stopped")));
	expect(active().textContent).toBe("Actions");
});

test("Stop of a run without anything for Actions hands it to Replay", async () => {
	kernel.batch(1, script(started, turn), { meta: { ...META, name: "2 x" } });
	last = 2;
	await soon();
	find(".anb-stop button").focus();
	await tell(script(finished("stopped")));
	expect(active().getAttribute("aria-label")).toBe("Replay");
});

test("an opened variant hands the focus to its tab", async () => {
	await tell(both(started, turn, ...wrote));
	find('.anb-grid [aria-label="Open Variant 2"]').focus();
	active().click();
	await soon();
	expect(active().getAttribute("role")).toBe("tab");
	expect(active().textContent).toContain("Variant 2");
});

test("Stop of a variant hands the focus to Open", async () => {
	await tell(both(started, turn, ...wrote));
	find('.anb-grid [aria-label="Stop Variant 1"]').focus();
	await tell(script(finished("stopped")));
	expect(active().getAttribute("aria-label")).toBe("Open Variant 1 in new tab");
});
