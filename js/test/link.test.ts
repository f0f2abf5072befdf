import { describe, expect, it, vi } from "vitest";
import type { FromStore } from "../src/run/bound-messages.ts";
import { PageLink } from "../src/run/page-link.ts";

function connected() {
	const sent: Record<string, unknown>[] = [];
	const names = [
		{ name: "level", kind: "value" },
		{ name: "score", kind: "function" },
	] as const;
	const link = new PageLink(names, (message) => sent.push(message));
	const abort = new AbortController();
	const onFlood = vi.fn();
	const { port } = link.connect({ onStatus: () => {}, onNote: () => {}, onFlood }, abort.signal);
	const page = port as MessagePort;
	const got: unknown[] = [];
	page.onmessage = ({ data }) => got.push(data);
	const tell = (message: FromStore): void => link.receive({ ...message, view: sent[0]?.view });
	return { sent, page, got, tell, onFlood, abort };
}

const value = (text: string): FromStore => ({ do: "value", name: "level", text, last: true });

describe("a bound page", () => {
	it("takes what Python sets after it has taken the page's value, and nothing older", async () => {
		const { sent, page, got, tell } = connected();
		page.postMessage({ do: "get", name: "level" });
		page.postMessage({ do: "set", values: [["level", "50"]] });
		await vi.waitFor(() => expect(sent.map((message) => message.do)).toEqual(["get", "set"]));
		tell(value("1"));
		tell({ do: "took", name: "level" });
		tell(value("10"));
		await vi.waitFor(() => expect(got).toEqual([{ do: "value", name: "level", text: "10" }]));
	});

	it("cancels its calls when its frame is closed", async () => {
		const { sent, page, tell, abort } = connected();
		for (const id of [1, 2]) page.postMessage({ do: "call", id, name: "score", text: "{}" });
		await vi.waitFor(() => expect(sent).toHaveLength(2));
		tell({ do: "result", id: 1, text: "1", last: true });
		abort.abort();
		expect(sent.slice(2)).toMatchObject([{ do: "cancel", id: 2 }]);
	});

	it.each([
		{ do: "get", name: "level", padding: "x" },
		{ do: "get", name: "other" },
		{ do: "set", values: [["level", "x".repeat(4_000_001)]] },
		{ do: "set", values: [["level", ["x"]]] },
		{
			do: "set",
			values: [
				["level", "1"],
				["level", "2"],
				["level", "3"],
			],
		},
		{ do: "call", name: "level", id: 1, text: "{}" },
		"x",
	])("is cut off once it sends what its script does not send", async (message) => {
		const { sent, page, onFlood } = connected();
		page.postMessage(message);
		await vi.waitFor(() => expect(onFlood).toHaveBeenCalled());
		expect(sent).toEqual([]);
	});
});
