import { expect, test, vi } from "vitest";
import type { Context } from "../src/view/context.ts";
import { createGate } from "../src/view/transcript/gate.ts";

test("a call that is shown whole stays where the user has it", () => {
	document.body.innerHTML = '<div style="overflow-y: auto"><div><p></p><footer></footer></div></div>';
	const [scroller, card] = [
		document.querySelector("div")!,
		document.querySelector<HTMLElement>("div > div")!,
	];
	const [call, answers] = [document.querySelector("p")!, document.querySelector("footer")!];
	card.getBoundingClientRect = () => new DOMRect(0, card.matches(".all") ? 500 : 200, 9, 9);
	Object.defineProperties(scroller, { scrollHeight: { value: 900 }, clientHeight: { value: 400 } });
	scroller.scrollBy = vi.fn();
	const context = { signal: new AbortController().signal, notify() {} } as unknown as Context;
	const draft = { seen: false };
	createGate(context, { card, call, answers, draft: () => draft, draw() {} }).showAll();
	expect(draft.seen).toBe(true);
	expect(scroller.scrollBy).toHaveBeenCalledWith({ top: 300, behavior: "instant" });
});
