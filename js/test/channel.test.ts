import { expect, test, vi } from "vitest";
import widget from "../src/widget.ts";
import { Kernel } from "./kernel.ts";
import { show } from "./stage.ts";

test("a kernel in the browser is sent to on its channel, not on the comm", async () => {
	const channels: { name: string; sent: string[]; open: boolean }[] = [];
	vi.stubGlobal(
		"BroadcastChannel",
		class {
			readonly #channel = { name: "", sent: [] as string[], open: true };
			constructor(name: string) {
				this.#channel.name = name;
				channels.push(this.#channel);
			}
			postMessage(text: string): void {
				this.#channel.sent.push(text);
			}
			close(): void {
				this.#channel.open = false;
			}
		},
	);
	const near = new Kernel("near", "agent_nb:near");
	const stopNear = widget.initialize({ model: near as never });
	await show();
	stopNear();
	expect(near.sent).toEqual([]);
	expect(channels.map(({ name, open }) => [name, open])).toEqual([["agent_nb:near", false]]);
	expect(JSON.parse(channels[0]?.sent[0] ?? "")).toMatchObject({
		kind: "command",
		command: "hello",
		key: "k",
	});
});
