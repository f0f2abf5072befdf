import { expect, test } from "vitest";
import { META, output, shadow, soon } from "./kernel.ts";
import { EVENTS, kernel } from "./stage.ts";

const RUNS = 22;

function place(numbers: readonly number[]): Promise<void> {
	const outputs = numbers.map((number) => `<div><div data-anb-run="k${number}"><p>frozen</p></div></div>`);
	document.body.innerHTML = outputs.join("");
	return soon();
}

/** Answers a hello as the kernel does, with the finished run. */
function answer(number: number): void {
	const run_id = `r${number}`;
	const hello = kernel.commands("hello").findLast(({ key }) => key === `k${number}`);
	kernel.answer(hello, { ok: true, run_id });
	kernel.batch(1, structuredClone(EVENTS), { run_id, meta: { ...META, key: `k${number}` } });
	kernel.say({ kind: "ready", run_id, line: "ready", digest: "d" });
}

test("the page forgets finished runs that it has not shown for long, and asks for them when it shows them again", async () => {
	const numbers = Array.from({ length: RUNS }, (_, number) => number);
	await place(numbers);
	numbers.forEach(answer);
	shadow().querySelector<HTMLElement>('[role="tab"]:last-of-type')!.click();
	await soon();
	const chosen = shadow().querySelector('[aria-selected="true"]')!.textContent;
	await place([]);

	await place([RUNS - 1]);
	expect(shadow().textContent).toContain("done");
	expect(kernel.commands("hello")).toHaveLength(RUNS);

	await place([0]);
	expect(output().shadowRoot).toBeNull();
	expect(kernel.commands("hello")).toHaveLength(RUNS + 1);
	kernel.say({ kind: "running_code", run_id: "r0", variants: [] });
	expect(output().shadowRoot).toBeNull();
	answer(0);
	await soon();
	expect(shadow().textContent).toContain("done");
	expect(shadow().querySelector('[aria-selected="true"]')!.textContent).toBe(chosen);
});
