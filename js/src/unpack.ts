// Undoes what `agent_nb/notebook/packing.py` did to save bytes: batches in, full events out.
// Both remember the same things of what was sent; a batch that tells everything is a fresh start for both.

import type { Event, FileDelta, TextDelta, ThinkingDelta, ToolArgsDelta, UsageUpdated } from "./events.ts";
import type { Batch, FromKernel, Guess, Item, Message, WholeBatch } from "./protocol.ts";
import { countPoints } from "./text.ts";

type Delta = FileDelta | TextDelta | ThinkingDelta | ToolArgsDelta;

/** Of a channel that no batch has introduced: this page came late. */
export interface Unknown {
	kind: "unknown";
	channel: number;
}

export class Unpacker {
	readonly #channels = new Map<number, Channel>();

	read(message: Message): FromKernel | Unknown {
		if (Array.isArray(message)) {
			const [number, first, count, ...items] = message;
			const channel = this.#channels.get(number);
			if (!channel) return { kind: "unknown", channel: number };
			const { run, session } = channel;
			const events = items.flatMap((item) => channel.unpack(item));
			return { kind: "batch", run, session, first, last: first + count - 1, events };
		}
		return message.kind === "batch" ? this.#whole(message) : message;
	}

	#whole({ channel: number, ...batch }: WholeBatch): Batch {
		const channel = new Channel(batch.run, batch.session);
		if (number !== undefined) this.#channels.set(number, channel);
		return { ...batch, events: batch.events.flatMap((item) => channel.unpack(item)) };
	}
}

/** What is remembered of one session's messages. */
class Channel {
	readonly run: string;
	readonly session: string;
	/** The newest delta of each variant. */
	readonly #deltas = new Map<number, Delta>();
	#variant = 0;
	/** The time told last. */
	#at = 0;

	constructor(run: string, session: string) {
		this.run = run;
		this.session = session;
	}

	unpack(item: Item): Event[] {
		if (typeof item === "number") {
			this.#at = item;
			return [];
		}
		if (typeof item === "string") return this.#goOn(this.#variant, item);
		if (!Array.isArray(item)) return [this.#full(item)];
		const [variant, second] = item;
		return typeof second === "string" ? this.#goOn(variant, second) : [this.#guess(item as Guess)];
	}

	#full(event: Event): Event {
		const variant = event.variant ?? 0;
		if ("text" in event && event.type !== "tool_progress") {
			this.#deltas.set(variant, event);
			this.#variant = variant;
		}
		this.#at = event.at;
		return event;
	}

	#goOn(variant: number, text: string): Event[] {
		const before = this.#deltas.get(variant);
		if (!before) return [];
		const delta: Delta = { ...before, at: this.#at, text };
		if (delta.type === "file_delta") delta.offset += countPoints(before.text);
		this.#deltas.set(variant, delta);
		this.#variant = variant;
		return [delta];
	}

	#guess([variant, cost, ...counts]: Guess): Event {
		const [input = 0, output = 0, cached_read = 0, cached_write = 0, reasoning = 0] = counts;
		const usage = { input, output, cached_read, cached_write, reasoning };
		return { type: "usage_updated", at: this.#at, variant, usage, cost, estimated: true } as UsageUpdated;
	}
}
