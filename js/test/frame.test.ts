import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Frame, type FrameEvents } from "../src/page/frame.ts";
import { MOST_PER_SECOND } from "../src/page/messages.ts";
import { soon } from "./kernel.ts";

let calls: unknown[][];
let frame: Frame;
let page: MessagePort;

/** A frame whose page got hold of the port, for example by patching `MessagePort.prototype`. */
beforeEach(() => {
	calls = [];
	const record =
		(name: string) =>
		(...what: unknown[]) =>
			void calls.push([name, ...what]);
	const names = ["onReady", "onShown", "onConsole", "onBlocked", "onLink", "onScrolled", "onSave", "onLost"];
	frame = new Frame(Object.fromEntries(names.map((name) => [name, record(name)])) as unknown as FrameEvents);
	document.body.append(frame.element);
	const secret = secretOf(frame);
	const channel = new MessageChannel();
	page = channel.port1;
	greet({ agent_nb_preview: secret }, [channel.port2]);
});

afterEach(() => {
	frame.dispose();
	page.close();
});

/** The shell is in a frame inside the frame, in which quotes are escaped. */
function secretOf(made: Frame): string | undefined {
	return /agentNbSecret=&quot;(.+?)&quot;/.exec(made.element.srcdoc)?.[1];
}

function greet(data: unknown, ports: MessagePort[] = []): void {
	const source = frame.element.contentWindow;
	window.dispatchEvent(new MessageEvent("message", { data, ports, source } as never));
}

const log = (text: string, level = "log"): unknown => ({
	tell: "console",
	given: { entry: { level, text } },
});
/** The next message that the page gets. */
const next = (): Promise<{ id: number; ask: string }> =>
	new Promise((resolve) => {
		page.onmessage = ({ data }) => resolve(data);
	});
const callsOf = (name: string): unknown[][] => calls.filter(([what]) => what === name);

test("frames work over plain http", () => {
	vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
	const others = [1, 2].map(() => new Frame({} as FrameEvents));
	expect(new Set([frame, ...others].map(secretOf)).size).toBe(3);
	for (const other of others) other.dispose();
	vi.unstubAllGlobals();
});

describe("messages that a page forges", () => {
	test("one of another shape is ignored", async () => {
		const shapes = [null, 7, { tell: "console" }, log("a", "zz"), { tell: "link" }, { tell: "toString" }];
		for (const forged of shapes) page.postMessage(forged);
		page.postMessage(log("x".repeat(2001)));
		page.postMessage(log("fine"));
		await soon();
		expect(calls).toEqual([["onReady"], ["onConsole", { level: "log", text: "fine" }, undefined]]);
	});

	test("a key that leaves the page counts only while the page has the focus, and is no key event", async () => {
		const heard = vi.fn();
		document.addEventListener("keydown", heard);
		const surface = document.body.appendChild(document.createElement("div"));
		surface.attachShadow({ mode: "open" }).append(frame.element);
		const tell = async (key: string): Promise<void> => {
			page.postMessage({ tell: key, given: true });
			await soon();
		};
		await tell("save");
		expect(callsOf("onSave")).toEqual([]);
		frame.element.tabIndex = 0;
		frame.element.focus();
		await tell("save");
		expect(callsOf("onSave")).toHaveLength(1);
		await tell("escaped");
		expect(surface.shadowRoot?.activeElement ?? null).toBeNull();
		expect(heard).not.toHaveBeenCalled();
	});

	test("only so many are shown per second", async () => {
		const begun = performance.now();
		for (let index = 0; index < 900; index++) page.postMessage(log("again"));
		await vi.waitFor(() => expect(callsOf("onConsole").length).toBeGreaterThanOrEqual(100));
		await soon();
		const seconds = Math.ceil((performance.now() - begun) / 1000);
		expect(callsOf("onConsole").length).toBeLessThanOrEqual(2 * MOST_PER_SECOND * (seconds + 1));
		expect(callsOf("onLost")).toEqual([]);
	});

	test("a flood over the port ends the frame", async () => {
		for (let index = 0; index < 5000; index++) page.postMessage(log("again"));
		await vi.waitFor(() => expect(callsOf("onLost")).toEqual([["onLost", "flooded"]]));
	});

	test("a flood outside the port ends it, too", () => {
		for (let index = 0; index < 5000; index++) greet("noise");
		expect(callsOf("onLost")[0]).toEqual(["onLost", "flooded"]);
	});

	test("an answer counts once, and only to what was asked", async () => {
		const asked = next();
		page.postMessage({ id: 1, answer: false });
		const morphed = frame.morph({ from: "<p>a", to: "<p>b", reveal: false });
		const { id, ask } = await asked;
		expect(ask).toBe("morph");
		page.postMessage({ id: id + 1, answer: true });
		page.postMessage({ id, answer: false });
		page.postMessage({ id, answer: true });
		expect(await morphed).toBe(false);
	});

	test("fields are read only as far as they have the right shape", async () => {
		const fields = [
			{ keys: ["a"], value: "text" },
			{ keys: ["b"], value: [true, false] },
			{ keys: [7], value: true },
			{ keys: ["c"], value: { html: "" } },
			null,
		];
		const asked = next();
		const taken = frame.ask("take", null);
		page.postMessage({ id: (await asked).id, answer: fields });
		expect(await taken).toEqual(fields.slice(0, 2));
	});

	test("an answer of another shape is none", async () => {
		for (const [ask, answer] of [
			["ping", { x: "1", y: 0 }],
			["take", "all"],
			["put", 1],
		] as const) {
			const asked = next();
			const answered = frame.ask(ask, null as never);
			page.postMessage({ id: (await asked).id, answer });
			expect(await answered).toBeNull();
		}
	});
});

test("nothing is sent before a piece of the page was taken, except pings", async () => {
	const seen: string[] = [];
	page.onmessage = ({ data }) => void seen.push(data.ask);
	frame.write("<p>a");
	frame.write("<p>b");
	void frame.ask("put", []);
	void frame.ask("ping", null);
	await vi.waitFor(() => expect(seen).toEqual(["write", "ping"]));
	page.postMessage({ id: 1, answer: true });
	await vi.waitFor(() => expect(seen).toEqual(["write", "ping", "write"]));
	expect(callsOf("onShown").length).toBe(1);
	page.postMessage({ id: 2, answer: false });
	await vi.waitFor(() => expect(seen).toEqual(["write", "ping", "write", "put"]));
});

test("what a frame has not answered when it is given up has no answer", async () => {
	const taken = frame.ask("take", null);
	frame.dispose();
	expect(await taken).toBeNull();
});
