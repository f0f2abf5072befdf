// What the page shows when the kernel answers late, or asks.

import { beforeEach, describe, expect, test, vi } from "vitest";
import { LAB, VERSION } from "../src/run/lab.ts";
import { INTERRUPTED, STOP_HINT } from "../src/view/context.ts";
import { done, finished, type Loose, script, started, tool, turn } from "./events.ts";
import { shadow, soon, still } from "./kernel.ts";
import { kernel, show } from "./stage.ts";

beforeEach(show);

const foot = (): string => shadow().querySelector(".anb-foot .ready")!.textContent!;
const find = (selector: string): HTMLElement => shadow().querySelector<HTMLElement>(selector)!;

/** Waits until the page has given up waiting for an answer and drawn that, which takes it a second. */
const later = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 4000 });

test("a late answer removes the hint at Stop", async () => {
	kernel.batch(1, script(started, turn));
	await soon();
	find(".anb-stop button").click();
	await later(() => expect(foot()).toBe(STOP_HINT));
	expect(find(".anb-stop button").textContent).toBe("Stop");
	kernel.answer(kernel.commands("stop")[0], { ok: true });
	await soon();
	expect(foot()).toBe("");
	expect(find(".anb-stop button").textContent).toBe("Stopping");
});

test("a run that Stop has interrupted still says so when it has ended", async () => {
	const lab = { version: VERSION, interrupt: () => true, setRuns() {}, stage: () => null };
	vi.stubGlobal(LAB as unknown as string, lab);
	kernel.batch(1, script(started, turn));
	await soon();
	find(".anb-stop button").click();
	await later(() => expect(foot()).toBe(INTERRUPTED));
	kernel.batch(3, script(finished("interrupted")));
	kernel.say({ kind: "ready", line: "`hero` is ready", variant: 0, paths: [], failed_check: "" });
	await soon();
	expect(foot()).toBe(`${INTERRUPTED} hero is ready`);
	kernel.batch(1, script(started, turn), { run_id: "r2" });
	await soon();
	expect(foot()).toBe("");
});

test("a late pick shows what was picked", async () => {
	const both = [0, 1].flatMap((variant) =>
		script(started, turn, finished()).map((one) => ({ ...one, variant })),
	);
	kernel.batch(1, both);
	await soon();
	find('.anb-grid [aria-label="Pick Variant 2"]').click();
	await later(() => expect(foot()).toContain("Pick again"));
	kernel.say({ kind: "ready", line: "`hero` is variant 2", variant: 1, picked: true });
	await soon();
	expect(foot()).toBe("hero is variant 2");
});

const asks = (call_id: string, args: Record<string, unknown> = { command: "ls" }) => [
	tool(call_id, "run shell"),
	{ type: "approval_requested", call_id, name: "sh", title: "run shell", args } as const,
];

test("a late refusal replaces the hint", async () => {
	kernel.batch(1, script(started, turn, ...asks("a")));
	await still();
	find(".anb-acts .primary").click();
	await later(() => expect(find(".anb-acts .warn").textContent).toBe(STOP_HINT));
	kernel.answer(kernel.commands("approve")[0], { ok: false, error: "That question is no longer open." });
	await soon();
	expect(find(".anb-acts .warn").textContent).toBe("That question is no longer open.");
	find(".anb-acts .primary").click();
	kernel.answer(kernel.commands("approve")[1], { ok: true });
	await soon();
	expect(find(".anb-acts .warn").hidden).toBe(true);
});

test("invisible characters are written out", async () => {
	kernel.batch(1, script(started, turn, ...asks("a", { "na\u202eme": "rm \u2066x", list: ["\u200f"] })));
	await soon();
	const shown = shadow().querySelectorAll(".anb-card .in > *");
	expect([...shown].map((one) => one.textContent)).toEqual([
		"na<U+202E>me",
		"rm <U+2066>x",
		"Invisible characters are written out: <U+2066>.",
		"list3 lines",
		'[\n  "<U+200F>"\n]',
		"Invisible characters are written out: <U+200F>.",
	]);
});

function key(selector: string, name: string, more: KeyboardEventInit = {}): void {
	const event = new KeyboardEvent("keydown", { key: name, bubbles: true, ...more });
	find(selector).dispatchEvent(event);
}

test.each([".anb-card.ask", ".anb-ask", ".anb-acts .primary"])("Y approves from %s", async (selector) => {
	kernel.batch(1, script(started, turn, ...asks("a")));
	await still();
	expect(find(".anb-card.ask").tabIndex).toBe(-1);
	key(selector, "y");
	expect(kernel.commands("approve")).toHaveLength(1);
});

const click = (): boolean =>
	find(".anb-acts .primary").dispatchEvent(new MouseEvent("click", { detail: 1, bubbles: true }));

test.each([
	["a click", false, click],
	["a key", true, () => key(".anb-card.ask", "n")],
	["Enter on a button", true, () => find(".anb-acts .primary").click()],
])(
	"%s on a card that has just appeared does not count; on one that has moved: %s",
	async (_name, counts, press) => {
		const answers = () => [...kernel.commands("approve"), ...kernel.commands("deny")];
		// A slow machine must not make the card ready before the press.
		const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
		kernel.batch(1, script(started, turn, ...asks("a")));
		await soon();
		expect(find(".anb-acts .primary").getAttribute("aria-disabled")).toBe("true");
		expect(find(".anb-acts .primary").title).toBe("The card has just appeared or moved.");
		press();
		expect(answers()).toEqual([]);
		await later(() => expect(shadow().textContent).toContain("that press did not count"));
		clock.mockRestore();
		await still();
		find(".anb-acts").getBoundingClientRect = () => new DOMRect(0, 40, 300, 80);
		press();
		expect(answers()).toHaveLength(counts ? 1 : 0);
		expect(find(".anb-acts .primary").getAttribute("aria-disabled")).toBe("true");
		await still();
		press();
		expect(answers()).toHaveLength(1);
	},
);

test("in the note letters are text, and Enter denies with what it says", async () => {
	kernel.batch(1, script(started, turn, ...asks("a")));
	await still();
	key("input", "y");
	key("input", "n");
	key("input", "Enter");
	(find("input") as HTMLInputElement).value = "use Python";
	key("input", "Enter", { isComposing: true });
	expect([...kernel.commands("approve"), ...kernel.commands("deny")]).toEqual([]);
	key("input", "Enter");
	expect(kernel.commands("deny")).toMatchObject([{ call_id: "a", note: "use Python" }]);
});

test("the card says what the tool does, and the row what it was called with", async () => {
	const [begun, asked] = asks("a", { count: 3, what: "tickets" });
	const described = { ...asked!, description: "Orders `things`.\n\nMore for the model." } as typeof asked;
	kernel.batch(1, script(started, turn, begun!, described!));
	await soon();
	expect(find(".anb-card .sub").textContent).toBe("Orders things.");
	const resolved = { type: "approval_resolved", call_id: "a", approved: true, note: "" } as const;
	kernel.batch(5, script(resolved, done({ call_id: "a" })));
	await soon();
	expect(find(".anb-row .lab").textContent).toBe("run shell 3, tickets");
});

const labels = (): string[] =>
	[...shadow().querySelectorAll<HTMLElement>(".anb-acts .anb-btn:not([hidden]) > span:first-child")].map(
		(one) => one.textContent,
	);

test("the buttons say what always means", async () => {
	const [begun, asked] = asks("a");
	const schema = { type: "object", properties: { command: { type: "string" } } };
	const always = async (more: object): Promise<string> => {
		kernel.batch(1, script(started, turn, begun!, { ...asked!, ...more }), { run_id: JSON.stringify(more) });
		await soon();
		return labels().at(-1)!;
	};
	expect(await always({ schema })).toBe("Always for this tool in this run");
	expect(await always({ schema, identical_only: true })).toBe("Always for exactly this call");
	expect(await always({ schema: {} })).toBe("Always in this run");
	expect(buttonOf("Allow")).toBeUndefined();
	const edit = [...shadow().querySelectorAll<HTMLElement>(".anb-card header button")].at(-1)!;
	expect(edit.hidden).toBe(true);
	await still();
	key(".anb-card.ask", "e");
	key(".anb-card.ask", "Y", { shiftKey: true });
	expect(shadow().querySelector(".anb-form")).toBeNull();
	expect(kernel.commands("approve")).toMatchObject([{ call_id: "a", scope: "always" }]);
});

const buttonOf = (text: string): HTMLElement | undefined =>
	[...shadow().querySelectorAll<HTMLElement>("button:not([hidden])")].find((one) =>
		one.textContent.startsWith(text),
	);

test("code can be allowed for the run, which the footer says until it is taken back", async () => {
	const code = { name: "run_python", identical_only: true, allows_whole_run: true };
	const [begun, asked] = asks("a");
	kernel.batch(1, script(started, turn, begun!, { ...asked!, ...code }));
	await still();
	expect(labels()).toEqual([
		"Approve",
		"Deny",
		"Allow run_python for this run",
		"Always for exactly this call",
	]);
	buttonOf("Allow run_python")!.click();
	expect(kernel.commands("approve")).toMatchObject([{ variant: 0, call_id: "a", scope: "run" }]);
	const line = find(".anb-code-runs");
	expect(line.hidden).toBe(true);
	kernel.say({ kind: "running_code", variants: [0] });
	await soon();
	expect(line.hidden).toBe(false);
	expect(line.textContent).toContain("run_python is allowed for this run");
	buttonOf("Ask again")!.click();
	expect(kernel.commands("ask_again")).toMatchObject([{ variant: 0 }]);
	kernel.say({ kind: "running_code", variants: [] });
	await soon();
	expect(line.hidden).toBe(true);
});

describe("code", () => {
	const [begun, asked] = asks("a", { code: "x = 1" });
	const schema = { properties: { code: { type: "string" } }, required: ["code"] };
	const offered = { ...asked!, name: "run_python", can_try: true, schema } as typeof asked;
	const trial = (): HTMLElement => find(".anb-trial");
	const tries = () => kernel.commands("try");

	test("is tried before it is approved, again and as edited, and a second press stops it", async () => {
		const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
		kernel.batch(1, script(started, turn, begun!, offered!));
		await soon();
		expect(trial().textContent).toContain("files and network are touched for real");
		key(".anb-card.ask", "t");
		expect(tries()).toEqual([]);
		clock.mockRestore();
		await still();
		buttonOf("Try it")!.click();
		await still();
		expect(trial().textContent).toContain("Trying it");
		buttonOf("Stop trying")!.click();
		expect(tries()).toMatchObject([
			{ variant: 0, call_id: "a" },
			{ call_id: "a", stop: true },
		]);
		const names = { bound: ["x"], changed: [], deleted: [], in_place: { orders: "+ y" }, code: "x = 1" };
		const outputs = [{ "text/plain": "seen" }, { "application/vnd.agent-nb.names+json": names }];
		const nextClock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
		kernel.answer(tries()[0], { ok: true, outputs, problem: "It was \u202estopped." });
		await soon();
		expect(trial().textContent).toContain("Tried in a copy");
		expect(trial().textContent).toMatch(/seen.*It was <U\+202E>stopped\.set xorders: \+ y$/);
		expect(trial().querySelector(".anb-names button")).toBeNull();
		click();
		expect(kernel.commands("approve")).toEqual([]);
		nextClock.mockRestore();
		await still();
		key(".anb-card.ask", "e");
		const editor = find("textarea") as HTMLTextAreaElement;
		editor.value = "x = 2";
		editor.dispatchEvent(new Event("input", { bubbles: true }));
		expect(trial().textContent).not.toContain("seen");
		await still();
		buttonOf("Try it")!.click();
		expect(tries()[2]).toMatchObject({ args: { code: "x = 2" } });
		kernel.answer(tries()[2], { ok: false, error: "The kernel could not be copied." });
		await later(() => expect(find(".anb-acts [role=alert]").textContent).toContain("could not be copied"));
		await still();
		buttonOf("Approve with changes")!.click();
		expect(kernel.commands("approve")).toMatchObject([{ call_id: "a", args: { code: "x = 2" } }]);
	});

	test("is approved by a key right after its trial, although the result moves the card", async () => {
		kernel.batch(1, script(started, turn, begun!, offered!));
		await still();
		key(".anb-card.ask", "t");
		const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
		kernel.answer(tries()[0], { ok: true, outputs: [{ "text/plain": "seen" }], problem: "" });
		await soon();
		expect(trial().textContent).toContain("seen");
		key(".anb-card.ask", "y");
		clock.mockRestore();
		expect(kernel.commands("approve")).toHaveLength(1);
	});

	test("that the kernel cannot copy is not tried", async () => {
		kernel.batch(1, script(started, turn, begun!, { ...offered!, can_try: false } as Loose));
		await still();
		key(".anb-card.ask", "t");
		expect([trial().hidden, buttonOf("Try it"), tries()]).toEqual([true, undefined, []]);
	});
});

test("an output that was held back can be shown to the model", async () => {
	const blind = { ...started, settings: { data: "schema" } };
	const resolved = { type: "approval_resolved", call_id: "a", approved: true, note: "" } as const;
	kernel.batch(1, script(blind as never, turn, ...asks("a"), resolved, done({ call_id: "a" })));
	await soon();
	expect(shadow().textContent).toContain("Only you see this.");
	buttonOf("Show the model")!.click();
	expect(kernel.commands("show_output")).toMatchObject([{ variant: 0, call_id: "a" }]);
	kernel.answer(kernel.commands("show_output")[0], { ok: true });
	await later(() => expect(shadow().textContent).toContain("goes to the model with the next result"));
});

test("Escape leaves the card and answers nothing", async () => {
	kernel.batch(1, script(started, turn, ...asks("a")));
	await soon();
	const focused = (): string => shadow().activeElement!.className;
	(find(".anb-note-input") as HTMLInputElement).focus();
	key(".anb-note-input", "Escape");
	expect(focused()).toBe("anb-card ask");
	key(".anb-card.ask", "Escape");
	expect(focused()).toBe("anb-scroll");
	expect([...kernel.commands("approve"), ...kernel.commands("deny")]).toEqual([]);
});

test("questions of several variants are one queue, and those alike are approved together", async () => {
	const both = [1, 0].flatMap((variant) =>
		script(started, turn, ...asks("a")).map((one) => ({ ...one, variant })),
	);
	kernel.batch(1, both);
	await soon();
	find('.anb-grid [aria-label^="Answer Variant 2"]').click();
	await soon();
	expect(find(".anb-queue").textContent).toContain("1 of 2");
	(find(".anb-note-input") as HTMLInputElement).value = "go";
	find(".anb-note-input").dispatchEvent(new Event("input"));
	find('[aria-label="Next question"]').click();
	await soon();
	expect(find(".anb-queue").textContent).toContain("2 of 2");
	expect(shadow().activeElement).toBe(find(".anb-card.ask"));
	find('[aria-label="Next question"]').click();
	await still();
	expect((find(".anb-note-input") as HTMLInputElement).value).toBe("go");
	expect(labels()).toContain("Approve all 2 alike");
	buttonOf("Approve all 2 alike")!.click();
	expect(kernel.commands("approve")).toMatchObject([
		{ variant: 1, call_id: "a", note: "go", scope: "together" },
	]);
	const one = { type: "approval_resolved", call_id: "a", approved: true, note: "go", by: "person" } as const;
	kernel.batch(9, script({ ...one, variant: 0 }));
	await soon();
	expect(find(".anb-queue").hidden).toBe(true);
	expect(labels()).not.toContain("Approve all 2 alike");
});

test("the row says who decided and what was changed", async () => {
	kernel.batch(1, script(started, turn, ...asks("a")));
	const changed = { proposed: { command: "ls" }, executed: { command: "ls -l" } };
	const resolved = {
		type: "approval_resolved",
		call_id: "a",
		approved: true,
		note: "",
		by: "person",
	} as const;
	kernel.batch(5, script({ ...resolved, ...changed }, done({ call_id: "a" })));
	await soon();
	expect(find(".anb-row .facts").textContent).toBe("changed by you");
	expect(find(".anb-detail").textContent).toContain("You approved.");
	const lines = [...shadow().querySelectorAll(".anb-detail .anb-diff tr")].map((one) => one.textContent);
	expect(lines).toEqual(["1−ls", "1+ls -l"]);
});

test.each([
	["function", "Your function said no."],
	["nobody", "Nobody is there to ask. Use `approve`."],
] as const)("the row of a call that %s denied says so", async (by, caption) => {
	const summary = "Nobody is there to ask. Use `approve`.";
	const resolved = { type: "approval_resolved", call_id: "a", approved: false, note: "", by } as const;
	const denied = done({ call_id: "a", ok: false, code: "DENIED", summary });
	kernel.batch(1, script(started, turn, ...asks("a"), resolved, denied));
	await soon();
	expect(find(".anb-detail .first").textContent).toBe(caption);
});

test("a second question with the same title is announced", async () => {
	kernel.batch(1, script(started, turn, ...asks("a")));
	await soon();
	const announced: string[] = [];
	const region = find("[aria-live=assertive]");
	new MutationObserver(() => announced.push(region.textContent!)).observe(region, { childList: true });
	const resolved = { type: "approval_resolved", call_id: "a", approved: true, note: "" } as const;
	kernel.batch(5, script(resolved, done({ call_id: "a" }), ...asks("b")));
	await soon();
	await soon();
	expect(announced).toEqual(["", "Approval needed: run shell"]);
	await vi.waitFor(() => expect(region.textContent).toBe(""), { timeout: 4000 });
});

describe("a question from the model", () => {
	const args = { question: "Which <b>colour</b>?", choices: ["blue", "red\u001b", "x".repeat(200)] };
	const request = {
		type: "approval_requested",
		call_id: "a",
		name: "ask_user",
		title: "ask: Which?",
	} as const;
	const asked = (more: object = {}) => [
		tool("a", "ask: Which?"),
		{ ...request, args, is_question: true, ...more } as const,
	];
	const answers = () => [...kernel.commands("approve"), ...kernel.commands("deny")];
	const key = (name: string, target = find(".anb-note-input")) =>
		target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));

	async function show(more: object = {}): Promise<void> {
		kernel.batch(1, script(started, turn, ...asked(more)));
		await still();
	}

	test("is shown as text, with a button for each choice", async () => {
		await show();
		expect(find(".anb-card h4").textContent).toBe("The model asks");
		expect(find(".anb-card .question").textContent).toBe("Which <b>colour</b>?");
		const choices = [...shadow().querySelectorAll(".choice")].map((button) => button.textContent);
		expect(choices).toEqual(["blue", "red<U+001B>", "x".repeat(200)]);
	});

	test.each([
		["a choice", () => find(".choice").click(), { command: "approve", note: "blue" }],
		["Enter in the field", () => key("Enter"), { command: "approve", note: "green" }],
		["Send", () => find(".anb-acts .primary").click(), { command: "approve", note: "green" }],
		["Skip", () => find(".anb-acts .primary + .anb-btn").click(), { command: "deny" }],
	])("is answered by %s", async (_, press, answer) => {
		await show();
		(find(".anb-note-input") as HTMLInputElement).value = "green";
		press();
		await soon();
		expect(answers()).toMatchObject([{ call_id: "a", ...answer }]);
	});

	test("takes neither a letter nor an empty field for an answer", async () => {
		await show();
		key("y", find(".anb-card.ask"));
		key("n", find(".anb-card.ask"));
		find(".anb-acts .primary").click();
		expect(answers()).toEqual([]);
	});

	test("in a damaged file breaks nothing", async () => {
		await show({ args: { choices: { length: 3 } } });
		expect(shadow().querySelectorAll(".choice")).toHaveLength(0);
	});

	test("leaves its answer in the transcript", async () => {
		const resolved = { type: "approval_resolved", call_id: "a", approved: true, note: "blue" } as const;
		kernel.batch(1, script(started, turn, ...asked(), resolved, done({ call_id: "a", summary: "blue" })));
		await soon();
		expect(find(".anb-detail").textContent).toMatch(/^blue/);
		expect(find(".anb-detail").textContent).not.toContain("approved");
	});
});
