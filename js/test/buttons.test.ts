import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { done, finished, script, started, text, thinking, tool, turn, USAGE } from "./events.ts";
import { META, output, shadow, soon } from "./kernel.ts";
import { kernel, show, stop, tell } from "./stage.ts";

describe("buttons", () => {
	const stopButton = (): HTMLButtonElement =>
		shadow().querySelector<HTMLButtonElement>(".anb-stop .anb-act")!;

	test("stop is sent once and waits", async () => {
		await show();
		tell(kernel, 1, 4);
		stopButton().click();
		stopButton().click();
		expect(kernel.commands("stop")).toHaveLength(1);
		expect(stopButton().textContent).toBe("Stopping");
	});

	test.each([
		["anthropic:claude-opus-5-5", ["%agent key anthropic", "%%agent hero"]],
		["openai:gpt-6.1-sol", ["%%agent hero"]],
	])("a refused key of %s", async (model, cells) => {
		await show();
		const error = "Anthropic refused the key. In a notebook, `%agent key anthropic` asks for another.";
		kernel.batch(1, script({ ...started, model }, turn, finished("failed", error)));
		kernel.say({ kind: "ready", paths: [], features: {}, again: "%%agent hero", others: [] });
		await soon();
		const shown = shadow().querySelectorAll(".anb-retries .anb-cell:not([hidden]) code");
		expect([...shown].map((code) => code.textContent)).toEqual(cells);
	});

	test("the path of the saved run is in the menu", async () => {
		await show();
		kernel.batch(1, script(started, turn, finished()));
		kernel.say({
			kind: "ready",
			paths: [".agent_nb/runs/hero.run.jsonl"],
			features: {},
			again: "",
			others: [],
		});
		await soon();
		const items = [...shadow().querySelectorAll<HTMLElement>("[role=menuitem]:not([hidden])")];
		expect(items.map((item) => item.textContent)).toContain("Copy path.agent_nb/runs/hero.run.jsonl");
	});

	test("a denied call is a decision, not a failure", async () => {
		await show();
		tell(kernel, 1, 4);
		const events = script(
			tool("c1", "run ls"),
			{ type: "approval_requested", call_id: "c1", name: "run", title: "run ls", args: { command: "ls" } },
			{ type: "approval_resolved", call_id: "c1", approved: false, note: "use Python" },
			done({ ok: false, code: "DENIED", summary: "You said no.", hint: "use Python" }),
		);
		kernel.batch(5, events);
		await soon();
		const item = [...shadow().querySelectorAll(".anb-item")].at(-1)!;
		expect(item.querySelector(".mark")?.textContent).toBe("denied");
		expect(item.querySelector("details")?.open).toBe(true);
		expect(item.querySelector(".anb-detail")?.textContent).toMatch(
			/^You said no\.Note to the model: use Python/,
		);
		expect(item.matches(".bad")).toBe(false);
		expect(item.querySelector(".bad, .err")).toBeNull();
	});
});

test("a run that asked no model cannot be replayed", async () => {
	const replay = (): HTMLElement => shadow().querySelector<HTMLElement>(".anb-replay")!;
	await show();
	kernel.batch(1, script(started, finished("failed", "No key.")));
	expect(replay().hidden).toBe(true);
	kernel.batch(1, script(started, turn, finished("failed", "No key.")), { run_id: "r2" });
	await soon();
	expect(replay().hidden).toBe(false);
});

test("header and card show the same seconds until a retry", async () => {
	await show();
	const retry = { type: "turn_retrying", attempt: 1, wait: 7.4, why: "Overloaded." } as const;
	kernel.batch(1, script(started, turn, retry));
	expect(shadow().querySelector(".phase")?.textContent).toBe("retrying in 7 s");
	expect(shadow().querySelector(".anb-ring")?.textContent).toBe("7");
});

describe("while nothing arrives", () => {
	beforeEach(() => void vi.useFakeTimers());
	afterEach(() => void vi.useRealTimers());

	test("the page counts how long the model has been silent and says what may be wrong, and a screen reader hears it once", async () => {
		const phase = (): string | null => shadow().querySelector(".phase")!.textContent;
		const shown = show();
		await vi.advanceTimersByTimeAsync(100);
		await shown;
		kernel.batch(1, script(started, turn));
		await vi.advanceTimersByTimeAsync(5000);
		expect(phase()).toBe("thinking");
		await vi.advanceTimersByTimeAsync(25_000);
		expect(phase()).toBe("waiting for the model, 30 s");
		const row = shadow().querySelector(".anb-log li:last-child");
		expect(row!.textContent).toMatch(
			/^Waiting for the model, 30 s.*The server may be busy.*stop and try again/,
		);
		await vi.advanceTimersByTimeAsync(50_000);
		expect(phase()).toBe("waiting for the model, 1 min 20 s");
		expect(shadow().querySelector(".anb-sr[role=status]")!.textContent).toMatch(/: waiting for the model$/);
		kernel.batch(3, script(started, turn, thinking("Hm.")).slice(2));
		await vi.advanceTimersByTimeAsync(15_000);
		expect(phase()).toMatch(/^thinking, 1\d s$/);
		expect(shadow().querySelector(".anb-log")!.textContent).not.toContain("Waiting");
		kernel.batch(1, script(started, turn, text("Done.")), { run_id: "r2" });
		await vi.advanceTimersByTimeAsync(1000);
		expect(phase()).toBe("writing");
	});
});

test("the header shows how full the context is, if the window is known", async () => {
	const share = (): string | null => shadow().querySelector(".anb-meta .context")!.textContent;
	const ended = { type: "turn_finished", stop: "end_turn", usage: { ...USAGE, input: 375 }, model: "m" };
	await show();
	kernel.batch(1, script({ ...started, settings: { window: 1000 } }, turn));
	expect(share()).toBe("");
	kernel.batch(1, script({ ...started, settings: { window: 1000 } }, turn, ended as never), { run_id: "r2" });
	await soon();
	expect(share()).toBe("38 % of context");
	kernel.batch(1, script(started, turn, ended as never), { run_id: "r3" });
	await soon();
	expect(share()).toBe("");
});

test("the header says what the kernel says about the settings", async () => {
	const about = (): HTMLElement => shadow().querySelector<HTMLElement>(".anb-meta .about")!;
	await show();
	kernel.batch(1, script(started, turn));
	await soon();
	expect(about().hidden).toBe(true);
	kernel.batch(1, script(started, turn), { run_id: "r2", meta: { ...META, about: ["no values sent"] } });
	await soon();
	expect(about().textContent).toBe("no values sent");
});

test("the frozen form's frames are off the page while covered", async () => {
	await show();
	output().innerHTML = "<p>frozen <iframe srcdoc='<h1>Hi</h1>'></iframe> form</p>";
	tell(kernel, 1, 9);
	await soon();
	expect(output().querySelector("iframe")).toBeNull();
	stop();
	expect(output().querySelector("p iframe")?.getAttribute("srcdoc")).toBe("<h1>Hi</h1>");
});
