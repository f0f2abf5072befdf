import { expect, test, vi } from "vitest";
import type { FromStore } from "../src/run/bound-messages.ts";
import { PageLink } from "../src/run/page-link.ts";

/** The real link and the page's real `notebook`, and what the kernel gets from them. */
async function connected() {
	const sent: Record<string, unknown>[] = [];
	const notes: string[] = [];
	const names = [
		{ name: "rows", kind: "value" },
		{ name: "score", kind: "function" },
	] as const;
	const link = new PageLink(names, (message) => sent.push(message));
	const onNote = (_: string, text: string) => notes.push(text);
	const bound = link.connect({ onStatus: () => {}, onNote, onFlood: () => {} }, new AbortController().signal);
	const { port1, port2 } = new MessageChannel();
	const event = new Promise<MessageEvent>((resolve) => {
		port2.onmessage = resolve;
	});
	port1.postMessage(null);
	// happy-dom's own classes are not those of its channels.
	vi.stubGlobal("MessageEvent", (await event).constructor);
	vi.stubGlobal("MessagePort", port1.constructor);
	vi.stubGlobal("window", Object.create(window));
	vi.resetModules();
	(await import("../src/page/notebook.ts")).defineNotebook(bound);
	const { notebook } = window as unknown as {
		notebook: Record<"get" | "on" | "set" | "call", CallableFunction>;
	};
	vi.unstubAllGlobals();
	const tell = (message: FromStore): void => link.receive({ ...message, view: sent[0]?.view });
	const waitFor = (...messages: object[]) => vi.waitFor(() => expect(sent).toMatchObject(messages));
	return { notebook, tell, waitFor, notes };
}

const get = { do: "get", name: "rows" };

test("a value that cannot be encoded is an error, and is asked for again", async () => {
	const { notebook, tell, waitFor, notes } = await connected();
	for (const messages of [[get], [get, get]]) {
		const answer = expect(notebook.get("rows")).rejects.toThrow("type object");
		await waitFor(...messages);
		tell({ do: "value", name: "rows", error: "type object" });
		await answer;
	}
	expect(notes).toEqual(["type object", "type object"]);
	const answer = notebook.get("rows");
	await waitFor(get, get, get);
	tell({ do: "value", name: "rows", text: "[1]", last: true });
	expect(await answer).toEqual([1]);
});

test("a page that has set a value follows what Python sets", async () => {
	const { notebook, tell, waitFor } = await connected();
	const seen: unknown[] = [];
	notebook.set("rows", 1);
	notebook.on("rows", (value: unknown) => seen.push(value));
	await waitFor(get, { do: "set", name: "rows", text: "1" });
	tell({ do: "took", name: "rows" });
	tell({ do: "value", name: "rows", text: "2", last: true });
	await vi.waitFor(() => expect(seen).toEqual([1, 2]));
});

test("with latest one call runs, and those that wait get the result of the newest", async () => {
	const { notebook, tell, waitFor } = await connected();
	const results = [1, 2, 3].map((n) => notebook.call("score", { n }, { latest: true }));
	const call = (n: number) => ({ do: "call", name: "score", text: `{"n":${n}}` });
	await waitFor(call(1));
	tell({ do: "result", id: 1, error: "no" });
	await expect(results[0]).rejects.toThrow("no");
	await waitFor(call(1), call(3));
	const last = notebook.call("score", { n: 4 }, { latest: true });
	tell({ do: "result", id: 2, text: "3", last: true });
	expect(await Promise.all(results.slice(1))).toEqual([3, 3]);
	await waitFor(call(1), call(3), call(4));
	tell({ do: "result", id: 3, text: "4", last: true });
	expect(await last).toBe(4);
});

test("a page without a kernel has an error for a value that never came", async () => {
	const { notebook, tell, waitFor } = await connected();
	const first = expect(notebook.get("rows")).rejects.toThrow("gone");
	await waitFor(get);
	tell({ do: "off", why: "gone" });
	await first;
	await expect(notebook.get("rows")).rejects.toThrow("gone");
});
