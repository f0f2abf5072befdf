import { expect, test } from "vitest";
import { output, soon, WholeScreen } from "./kernel.ts";
import { kernel, show, tell } from "./stage.ts";

test("the kernel knows which runs under way are on screen", async () => {
	const told = () => kernel.commands("on_screen").map(({ on_screen }) => on_screen);
	await show();
	tell(kernel, 1, 4);
	await soon();
	expect(told()).toEqual([]);
	WholeScreen.scroll(output(), false);
	WholeScreen.scroll(output(), false);
	expect(told()).toEqual([false]);
	WholeScreen.scroll(output(), true);
	expect(told()).toEqual([false, true]);
	document.body.innerHTML = "";
	await soon();
	expect(told().at(-1)).toBe(false);
});

test("nothing is said of a run that has ended", async () => {
	await show();
	tell(kernel, 1, 9);
	kernel.say({ kind: "ready", line: "ready", digest: "d" });
	await soon();
	WholeScreen.scroll(output(), false);
	expect(kernel.commands("on_screen")).toEqual([]);
});
