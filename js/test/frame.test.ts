import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Frame, type FrameEvents } from "../src/preview/frame.ts";
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
	const names = [
		"onReady",
		"onShown",
		"onConsole",
		"onBlocked",
		"onLink",
		"onUnmorphable",
		"onScrolled",
		"onGiven",
		"onLost",
	];
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

const log = (text: string, level = "log"): unknown => ({ is: "console", entry: { level, text } });
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
		for (const forged of [
			null,
			7,
			{ is: "console" },
			log("a", "zz"),
			{ is: "link" },
			{ is: "alive", x: "1" },
		])
			page.postMessage(forged);
		page.postMessage(log("x".repeat(2001)));
		page.postMessage(log("fine"));
		await soon();
		expect(calls).toEqual([["onReady"], ["onConsole", { level: "log", text: "fine" }, undefined]]);
		expect(frame.scroll).toEqual({ x: 0, y: 0 });
	});

	test("only so many are shown per second", async () => {
		for (let index = 0; index < 900; index++) page.postMessage(log("again"));
		await vi.waitFor(() => expect(callsOf("onConsole").length).toBeGreaterThanOrEqual(100));
		await soon();
		expect(callsOf("onConsole").length).toBeLessThanOrEqual(400);
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

	test("fields are read only when asked for, and only as far as they have the right shape", async () => {
		const fields = [
			{ keys: ["a"], given: "text" },
			{ keys: ["b"], given: [true, false] },
			{ keys: [7], given: true },
			{ keys: ["c"], given: { html: "" } },
			null,
		];
		page.postMessage({ is: "given", fields });
		await soon();
		expect(callsOf("onGiven")).toEqual([]);
		frame.takeFields();
		page.postMessage({ is: "given", fields });
		page.postMessage({ is: "given", fields });
		await soon();
		expect(callsOf("onGiven")).toEqual([["onGiven", fields.slice(0, 2)]]);
	});

	test("a morph is refused once, and when asked for", async () => {
		page.postMessage({ is: "unmorphable" });
		await soon();
		expect(callsOf("onUnmorphable")).toEqual([]);
		frame.morph("<p>a", "<p>b", false);
		page.postMessage({ is: "unmorphable" });
		page.postMessage({ is: "unmorphable" });
		await soon();
		expect(callsOf("onUnmorphable").length).toBe(1);
	});
});
