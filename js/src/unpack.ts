// Undoes what `agent_nb/notebook/live/packing.py` did to save bytes: batches in, full events out.
// Both remember the same things of what was sent; a batch that tells everything is a fresh start for both.

import type { Delta, Event, UsageUpdated } from "./events.ts";
import type { Batch, FromKernel, Guess, Item, Message, WholeBatch } from "./protocol.ts";
import { countPoints } from "./text.ts";

/** Of `packing.py`: how the two small numbers before bare words are written. */
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const TICK = 0.01;

/** Of a channel that no batch has introduced, or none has named: this page came late. */
export interface Unknown {
	kind: "unknown";
	channel: number | null;
}

export class Unpacker {
	readonly #channels = new Map<number, Channel>();
	/** The channel of the batch before. */
	#newest: number | null = null;

	read(message: Message): FromKernel | Unknown {
		if (typeof message === "string") return this.#words(message);
		if (!Array.isArray(message)) return message.kind === "batch" ? this.#whole(message) : message;
		const [number, first, count, ...items] = message;
		this.#newest = number;
		const channel = this.#channels.get(number);
		return channel?.batch(first, count, items) ?? { kind: "unknown", channel: number };
	}

	#words(message: string): Batch | Unknown {
		const channel = this.#newest === null ? undefined : this.#channels.get(this.#newest);
		if (!channel) return { kind: "unknown", channel: this.#newest };
		const [count, ticks] = [...message.slice(0, 2)].map((digit) => DIGITS.indexOf(digit));
		channel.at += (ticks ?? 0) * TICK;
		return channel.batch(channel.last + 1, count ?? 0, [message.slice(2)]);
	}

	#whole({ channel: number, ...batch }: WholeBatch): Batch {
		const channel = new Channel(batch.run, batch.session);
		const unpacked = channel.batch(batch.first, batch.last - batch.first + 1, batch.events);
		if (number !== undefined) {
			this.#channels.set(number, channel);
			this.#newest = number;
		}
		return { ...batch, ...unpacked };
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
	at = 0;
	/** The newest of the run's events that is known here. */
	last = 0;

	constructor(run: string, session: string) {
		this.run = run;
		this.session = session;
	}

	batch(first: number, count: number, items: Item[]): Batch {
		const events = items.flatMap((item) => this.#unpack(item));
		this.last = first + count - 1;
		return { kind: "batch", run: this.run, session: this.session, first, last: this.last, events };
	}

	#unpack(item: Item): Event[] {
		if (typeof item === "number") {
			this.at = item;
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
		this.at = event.at;
		return event;
	}

	#goOn(variant: number, text: string): Event[] {
		const before = this.#deltas.get(variant);
		if (!before) return [];
		const delta: Delta = { ...before, at: this.at, text };
		if (delta.type === "file_delta") delta.offset += countPoints(before.text);
		this.#deltas.set(variant, delta);
		this.#variant = variant;
		return [delta];
	}

	#guess([variant, cost, ...counts]: Guess): Event {
		const [input = 0, output = 0, cached_read = 0, cached_write = 0, reasoning = 0] = counts;
		const usage = { input, output, cached_read, cached_write, reasoning };
		return { type: "usage_updated", at: this.at, variant, usage, cost, estimated: true } as UsageUpdated;
	}
}
