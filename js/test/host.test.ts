import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import widget from "../src/widget.ts";
import { changed, done, finished, piece, script, started, text, thinking, tool, turn } from "./events.ts";

const META = {
	name: "hero",
	model: "demo:",
	files_name: "files",
	finished: false,
	stop_hint: "press stop",
	demo: true,
	budget: null,
	steps: 5,
};
const EVENTS = script(
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

class Model {
	readonly sent: Record<string, unknown>[] = [];
	receive: (content: never) => void = () => {};
	constructor(readonly kernel = "1") {}
	get(): string {
		return this.kernel;
	}
	on(_name: string, callback: (content: never) => void): void {
		this.receive = callback;
	}
	off(): void {
		this.receive = () => {};
	}
	send(message: Record<string, unknown>): void {
		this.sent.push(message);
	}
	say(message: Record<string, unknown>): void {
		this.receive(message as never);
	}
	batch(first: number, last: number, session = "s1"): void {
		this.say({
			kind: "batch",
			run: "k",
			session,
			first,
			last,
			events: EVENTS.slice(first - 1, last),
			meta: META,
		});
	}
}

let model: Model;
let stop: () => void;

const output = (): HTMLElement => document.querySelector<HTMLElement>("[data-anb-run]")!;
const shadow = (): ShadowRoot => output().shadowRoot!;
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 40));

beforeEach(() => {
	document.body.innerHTML = "";
	model = new Model();
	stop = widget.initialize({ model: model as never });
});

afterEach(() => stop());

async function show(): Promise<void> {
	document.body.innerHTML = '<div class="cell"><div data-anb-run="k"><p>frozen</p></div></div>';
	await soon();
}

describe("mounting", () => {
	test("an output says hello and waits frozen", async () => {
		await show();
		expect(model.sent[0]).toMatchObject({ kind: "command", command: "hello", run: "k" });
		expect(output().shadowRoot).toBeNull();
	});

	test("a refused run stays frozen", async () => {
		await show();
		model.say({ kind: "answer", id: model.sent[0]!.id, ok: false, error: "unknown" });
		await soon();
		expect(output().shadowRoot).toBeNull();
	});

	test("the first batch mounts over the frozen form", async () => {
		await show();
		model.batch(1, 4);
		expect(shadow().querySelector(".name")?.textContent).toBe("hero");
		expect(shadow().textContent).toContain("Hello");
		expect(shadow().querySelector("slot")).toBeNull();
		expect(output().hasAttribute("data-lm-suppress-shortcuts")).toBe(true);
	});

	test("a replaced output mounts again at once", async () => {
		await show();
		model.batch(1, 9);
		document.querySelector(".cell")!.innerHTML = '<div data-anb-run="k"><p>final</p></div>';
		await Promise.resolve();
		await Promise.resolve();
		expect(shadow().textContent).toContain("done");
	});

	test("two outputs of a run both live", async () => {
		await show();
		model.batch(1, 4);
		document.body.insertAdjacentHTML("beforeend", '<div id="two" data-anb-run="k"></div>');
		await soon();
		model.batch(5, 9);
		await soon();
		for (const element of document.querySelectorAll("[data-anb-run]")) {
			expect(element.shadowRoot!.querySelector(".phase")!.textContent).toBe("done");
		}
	});

	test("a closed hub gives the frozen form back", async () => {
		await show();
		model.batch(1, 4);
		stop();
		expect(shadow().querySelector("slot")).not.toBeNull();
		expect(shadow().querySelector(".anb")).toBeNull();
		expect(output().hasAttribute("data-lm-suppress-shortcuts")).toBe(false);
	});

	test("a view shows the newest run", () => {
		model.batch(1, 9);
		const el = document.createElement("div");
		document.body.append(el);
		const unmount = widget.render({ model: model as never, el })!;
		expect(el.shadowRoot!.textContent).toContain("Hello.");
		unmount();
		expect(el.shadowRoot!.querySelector(".anb")).toBeNull();
	});

	test("unmounting leaves no listener and no timer", async () => {
		const added = new Set<unknown>();
		const real = window.addEventListener.bind(window);
		const add = vi.spyOn(window, "addEventListener").mockImplementation(((
			type: string,
			listener: EventListener,
			options: AddEventListenerOptions,
		) => {
			added.add(listener);
			options?.signal?.addEventListener("abort", () => added.delete(listener));
			real(type, listener, options);
		}) as never);
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
		await show();
		model.batch(1, 9);
		await soon();
		expect(timers.size).toBeGreaterThan(0);
		expect(added.size).toBeGreaterThan(0);
		document.body.innerHTML = "";
		await soon();
		expect([...timers]).toEqual([]);
		expect([...added]).toEqual([]);
		add.mockRestore();
		vi.unstubAllGlobals();
	});
});

describe("several kernels", () => {
	const phase = (): string | null | undefined => shadow().querySelector(".phase")?.textContent;

	test("a re-run after a restart belongs to the new kernel", async () => {
		await show();
		model.batch(1, 9);
		const second = new Model("2");
		const stopSecond = widget.initialize({ model: second as never });
		await soon();
		second.batch(1, 3, "s2");
		document.querySelector(".cell")!.innerHTML = '<div data-anb-run="k"></div>';
		await soon();
		expect(phase()).toBe("thinking");
		model.batch(1, 9);
		await soon();
		expect(phase()).toBe("thinking");
		stopSecond();
	});

	test("an output that names its run is no other kernel's", async () => {
		model.batch(1, 9, "older");
		document.body.innerHTML =
			'<div class="cell"><div data-anb-run="k" data-anb-session="newer"><p>frozen</p></div></div>';
		await soon();
		expect(output().shadowRoot).toBeNull();
		const other = new Model("2");
		const stopOther = widget.initialize({ model: other as never });
		other.batch(1, 4, "newer");
		await soon();
		expect(shadow().querySelector(".anb")).not.toBeNull();
		expect(shadow().textContent).not.toContain("done");
		stopOther();
	});

	test("an output drawn again stays with its kernel", async () => {
		document.body.innerHTML = '<div class="jp-Cell" id="a"></div><div class="jp-Cell" id="b"></div>';
		const second = new Model("2");
		const stopSecond = widget.initialize({ model: second as never });
		const draw = async (id: string): Promise<Element> => {
			document.querySelector(`#${id}`)!.innerHTML = '<div data-anb-run="k"></div>';
			await soon();
			return document.querySelector(`#${id} [data-anb-run]`)!;
		};
		const words = (element: Element): string =>
			element.shadowRoot?.querySelector(".phase")?.textContent ?? "";
		model.batch(1, 9);
		await draw("a");
		await soon();
		second.batch(1, 3, "s2");
		expect(words(await draw("b"))).toBe("thinking");
		expect(words(await draw("a"))).toBe("done");
		expect(words(await draw("b"))).toBe("thinking");
		stopSecond();
	});

	test("a run whose kernel is gone shows its frozen form", async () => {
		let say: (sender: unknown, status: string) => void = () => {};
		const connect = (slot: typeof say): void => {
			say = slot;
		};
		const statusChanged = { connect, disconnect: () => {} };
		const third = Object.assign(new Model("3"), { widget_manager: { kernel: { statusChanged } } });
		const stopThird = widget.initialize({ model: third as never });
		await show();
		third.batch(1, 4);
		expect(shadow().querySelector(".anb")).not.toBeNull();
		say(null, "autorestarting");
		expect(shadow().querySelector("slot")).not.toBeNull();
		third.batch(5, 9);
		expect(shadow().querySelector(".phase")?.textContent).toBe("done");
		say(null, "restarting");
		expect(shadow().querySelector(".anb")).not.toBeNull();
		const sent = third.sent.length;
		document.querySelector(".cell")!.innerHTML = '<div data-anb-run="k"></div><p data-anb-run="other"></p>';
		await soon();
		expect(output().shadowRoot).toBeNull();
		expect(third.sent.length).toBe(sent);
		model.batch(1, 3, "s2");
		expect(shadow().querySelector(".phase")?.textContent).toBe("thinking");
		stopThird();
	});
});

describe("buttons", () => {
	const stopButton = (): HTMLButtonElement => shadow().querySelector<HTMLButtonElement>(".anb-stop button")!;

	test("stop is sent once and waits", async () => {
		await show();
		model.batch(1, 4);
		stopButton().click();
		stopButton().click();
		expect(model.sent.filter((message) => message.command === "stop")).toHaveLength(1);
		expect(stopButton().textContent).toBe("Stopping");
	});

	test("stop unanswered says what to press", async () => {
		await show();
		model.batch(1, 4);
		vi.useFakeTimers();
		stopButton().click();
		await vi.advanceTimersByTimeAsync(1100);
		vi.useRealTimers();
		expect(shadow().querySelector(".anb-foot")?.textContent).toBe("press stop");
		expect(stopButton().textContent).toBe("Stop");
	});

	test("a second page has no buttons", async () => {
		await show();
		model.say({
			kind: "answer",
			id: model.sent[0]!.id,
			ok: true,
			session: "s1",
			meta: META,
			owner: false,
			last: 4,
		});
		await Promise.resolve();
		model.batch(1, 4);
		await soon();
		expect(stopButton().hidden).toBe(true);
		expect(shadow().querySelector(".anb-hint")?.textContent).toBe("open in another window");
	});

	test("y approves, n denies with a word", async () => {
		await show();
		model.batch(1, 4);
		const ask = script({
			type: "approval_requested",
			call_id: "c1",
			name: "run",
			title: "run it",
			args: { code: "print(1)" },
		});
		model.say({ kind: "batch", run: "k", session: "s1", first: 5, last: 5, events: ask });
		await soon();
		const card = shadow().querySelector<HTMLElement>(".anb-card.ask")!;
		expect(card.hidden).toBe(false);
		expect(card.textContent).toContain("print(1)");
		card.querySelector<HTMLInputElement>("input")!.value = "not now";
		card.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true }));
		expect(model.sent.at(-1)).toMatchObject({ command: "deny", call_id: "c1", note: "not now" });
	});

	test("a denied call is a decision, not a failure", async () => {
		await show();
		model.batch(1, 4);
		const events = script(
			tool("c1", "run ls"),
			{ type: "approval_requested", call_id: "c1", name: "run", title: "run ls", args: { command: "ls" } },
			{ type: "approval_resolved", call_id: "c1", approved: false, note: "use Python" },
			done({ ok: false, code: "DENIED", summary: "The person said no.", hint: "use Python" }),
		);
		model.say({ kind: "batch", run: "k", session: "s1", first: 5, last: 8, events });
		await soon();
		const item = [...shadow().querySelectorAll(".anb-item")].at(-1)!;
		expect(item.querySelector(".mark")?.textContent).toBe("denied");
		expect(item.querySelector("details")?.open).toBe(true);
		expect(item.querySelector(".anb-detail")?.textContent).toMatch(
			/^The person said no\.Told the model: use Python/,
		);
		expect(item.matches(".bad")).toBe(false);
		expect(item.querySelector(".bad, .err")).toBeNull();
	});

	test("keys typed into the note are words", async () => {
		await show();
		model.batch(1, 4);
		const ask = script({ type: "approval_requested", call_id: "c1", name: "run", title: "run it", args: {} });
		model.say({ kind: "batch", run: "k", session: "s1", first: 5, last: 5, events: ask });
		await soon();
		const before = model.sent.length;
		shadow()
			.querySelector(".anb-word")!
			.dispatchEvent(new KeyboardEvent("keydown", { key: "y", bubbles: true }));
		expect(model.sent.length).toBe(before);
	});
});

test("a re-run cell starts fresh", async () => {
	await show();
	model.batch(1, 9);
	await soon();
	model.batch(1, 3, "s2");
	await soon();
	expect(shadow().querySelector(".phase")?.textContent).toBe("thinking");
	expect(shadow().textContent).not.toContain("Hello.");
});

test("the frozen form's frames are off the page while covered", async () => {
	await show();
	output().innerHTML = "<p>frozen <iframe srcdoc='<h1>Hi</h1>'></iframe> form</p>";
	model.batch(1, 9);
	await soon();
	expect(output().querySelector("iframe")).toBeNull();
	stop();
	expect(output().querySelector("p iframe")?.getAttribute("srcdoc")).toBe("<h1>Hi</h1>");
});
