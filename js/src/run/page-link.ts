// Connects the frames of a bound page with the store in the kernel. The page may send anything through its port, so every
// message is validated, and the rate is limited.

import {
	type Bound,
	type FromPage,
	type FromStore,
	MOST_TEXT,
	NO_KERNEL,
	type ToPage,
} from "./bound-messages.ts";
import type { BoundName } from "./events.ts";

/** Characters that the kernel parses per millisecond: the next value of a name is sent when this one is parsed. */
const PER_MILLISECOND = 4000;
/** Messages per second above which a frame is disconnected; our script sends far fewer. */
const FLOOD = 500;
/** Milliseconds after which a call counts as waiting for the kernel. */
const PATIENCE = 1000;
const MOST_CALLS = 100;

export interface LinkEvents {
	/** Reports that the kernel is busy or gone; empty if it is neither. */
	onStatus(text: string): void;
	onNote(level: "log" | "error", text: string): void;
	onFlood(): void;
}

interface End {
	port: MessagePort;
	names: Set<string>;
	events: LinkEvents;
	second: number;
	messages: number;
}

interface Call {
	end: End;
	id: number;
	since: number;
	size: number;
}

/** The connection of one page, for all frames of this window that show it. */
export class PageLink {
	readonly #kinds: ReadonlyMap<string, BoundName["kind"]>;
	readonly #send: (message: Record<string, unknown>) => void;
	readonly #view = `${performance.timeOrigin}-${Math.random()}`;
	readonly #ends = new Set<End>();
	/** The newest value of each name, from the kernel or a frame. */
	readonly #values = new Map<string, string>();
	readonly #parts = new Map<string, string>();
	readonly #asked = new Set<string>();
	/** Queued values, and the sizes of unacknowledged ones; 0 while the kernel parses. */
	readonly #unsent = new Map<string, string>();
	readonly #untaken = new Map<string, number>();
	readonly #calls = new Map<number, Call>();
	#count = 0;
	/** Why the kernel cannot be reached; empty if it can. */
	#off = "";
	#timer: ReturnType<typeof setInterval> | undefined;
	/** The functions that the page has called. */
	readonly called = new Set<string>();
	/** Called when a function is called for the first time. */
	onCalled: () => void = () => {};

	constructor(
		readonly names: readonly BoundName[],
		send: (message: Record<string, unknown>) => void,
	) {
		this.#kinds = new Map(names.map(({ name, kind }) => [name, kind]));
		this.#send = (message) => send({ ...message, view: this.#view });
	}

	/** Connects a frame until the signal aborts. Returns the data it needs to define `notebook`. */
	connect(events: LinkEvents, signal: AbortSignal): Bound {
		const { port1: port, port2 } = new MessageChannel();
		const end: End = { port, events, names: new Set(), second: 0, messages: 0 };
		this.#ends.add(end);
		port.onmessage = ({ data }: MessageEvent<unknown>) => this.#hear(end, data);
		signal.addEventListener("abort", () => this.#detach(end));
		this.#timer ??= setInterval(() => this.#reportWaiting(), PATIENCE / 2);
		if (this.#off) this.#turnOff(end);
		return { names: this.names, port: port2, saved: {} };
	}

	/** The current values, for a page without a kernel. */
	get snapshot(): Bound {
		return { names: this.names, port: null, saved: Object.fromEntries(this.#values) };
	}

	/** Closes the connection from the kernel's side. The page keeps its values. */
	lose(why: string): void {
		this.#off = why || NO_KERNEL;
		this.#calls.clear();
		for (const end of this.#ends) this.#turnOff(end);
	}

	/** Closes the connection from the page's side. */
	close(): void {
		this.#send({ do: "close" });
	}

	receive(message: FromStore & { view?: unknown }): void {
		if (message.view !== this.#view) return;
		if (message.do === "value") this.#take(message);
		else if (message.do === "result") this.#settle(message);
		else if (message.do === "took") this.#onTaken(message);
		else if (message.do === "note") this.#note(message.level, message.text);
		else this.lose(message.why);
	}

	#take(message: FromStore & { do: "value" }): void {
		const { name } = message;
		if ("error" in message) {
			this.#asked.delete(name); // a frame that asks again gets a new answer
			this.#note("error", message.error);
			this.#spread({ do: "value", name, error: message.error });
			return;
		}
		const text = this.#join(`value ${name}`, message.text, message.last);
		// A value that a frame has set and the kernel has not acknowledged is newer.
		const isOlder = this.#untaken.get(name) || this.#unsent.has(name);
		if (text !== null && !isOlder) this.#spread({ do: "value", name, text });
	}

	#detach(end: End): void {
		end.port.close();
		this.#ends.delete(end);
		for (const [id, pending] of this.#calls) {
			if (pending.end !== end) continue;
			this.#calls.delete(id);
			this.#send({ do: "cancel", id });
		}
		if (this.#ends.size === 0) {
			clearInterval(this.#timer);
			this.#timer = undefined;
		}
	}

	#turnOff(end: End): void {
		this.#post(end, { do: "off", why: this.#off });
		end.events.onStatus(this.#off);
	}

	#post({ port }: End, message: ToPage): void {
		port.postMessage(message);
	}

	#hear(end: End, data: unknown): void {
		const second = Math.floor(performance.now() / 1000);
		end.messages = second === end.second ? end.messages + 1 : 1;
		end.second = second;
		const message = end.messages > FLOOD ? null : readMessage(data, this.#kinds);
		if (!message) {
			this.#detach(end);
			end.events.onFlood();
			return;
		}
		if (this.#off) return;
		if (message.do === "get") this.#follow(end, message.name);
		else if (message.do === "set") for (const [name, text] of message.values) this.#set(end, name, text);
		else this.#call(end, message);
	}

	#follow(end: End, name: string): void {
		end.names.add(name);
		const text = this.#values.get(name);
		if (text !== undefined) this.#post(end, { do: "value", name, text });
		if (this.#asked.has(name)) return;
		this.#asked.add(name);
		this.#send({ do: "get", name });
	}

	/** Sends values to the kernel and to the other frames of this window. */
	#set(end: End, name: string, text: string): void {
		this.#spread({ do: "value", name, text }, end);
		this.#unsent.set(name, text);
		this.#sendNext(name);
	}

	#sendNext(name: string): void {
		const text = this.#unsent.get(name);
		if (text === undefined || this.#untaken.has(name)) return;
		this.#unsent.delete(name);
		this.#untaken.set(name, text.length);
		this.#send({ do: "set", name, text });
	}

	#onTaken({ name, error }: FromStore & { do: "took" }): void {
		if (error) this.#note("error", `${name}: ${error}`);
		const size = this.#untaken.get(name) ?? 0;
		this.#untaken.set(name, 0);
		setTimeout(() => {
			this.#untaken.delete(name);
			this.#sendNext(name);
		}, size / PER_MILLISECOND);
	}

	#spread(message: ToPage & { do: "value" }, origin?: End): void {
		if ("text" in message) this.#values.set(message.name, message.text);
		for (const end of this.#ends) if (end !== origin && end.names.has(message.name)) this.#post(end, message);
	}

	#call(end: End, { id, name, text }: FromPage & { do: "call" }): void {
		const waiting = [...this.#calls.values()].filter((call) => call.end === end);
		const size = waiting.reduce((sum, call) => sum + call.size, text.length);
		if (waiting.length >= MOST_CALLS || size > MOST_TEXT) {
			this.#post(end, { do: "result", id, error: "Too many calls are waiting." });
			return;
		}
		this.#calls.set(++this.#count, { end, id, since: performance.now(), size: text.length });
		this.#send({ do: "call", id: this.#count, name, text });
		if (this.called.has(name)) return;
		this.called.add(name);
		this.onCalled();
	}

	#settle(message: FromStore & { do: "result" }): void {
		const isError = "error" in message;
		const text = isError ? message.error : this.#join(`result ${message.id}`, message.text, message.last);
		const pending = this.#calls.get(message.id);
		if (!pending || text === null) return;
		this.#calls.delete(message.id);
		const { end, id } = pending;
		this.#post(end, { do: "result", id, ...(isError ? { error: text } : { text }) });
		if (isError) end.events.onNote("error", text);
		this.#reportWaiting();
	}

	/** The complete text, once its last part has arrived. */
	#join(key: string, text: string, last: boolean): string | null {
		const whole = (this.#parts.get(key) ?? "") + text;
		if (last) this.#parts.delete(key);
		else this.#parts.set(key, whole);
		return last ? whole : null;
	}

	#note(level: "log" | "error", text: string): void {
		for (const { events } of this.#ends) events.onNote(level, text);
	}

	#reportWaiting(): void {
		if (this.#off) return;
		const since = performance.now() - PATIENCE;
		for (const end of this.#ends) {
			const waits = [...this.#calls.values()].filter((call) => call.end === end && call.since < since).length;
			end.events.onStatus(waits ? "The kernel is busy: the page waits for it." : "");
		}
	}
}

/** Validates a message from the page; null if our script would not send it. */
function readMessage(data: unknown, kinds: ReadonlyMap<unknown, BoundName["kind"]>): FromPage | null {
	const { do: kind, name, text, id, values, ...unused } = (data ?? {}) as Record<string, unknown>;
	const isValue = (value: unknown): value is string => /value|filled/.test(kinds.get(value) ?? "");
	const isText = (value: unknown): value is string => typeof value === "string" && value.length <= MOST_TEXT;
	if (Object.keys(unused).length > 0) return null;
	if (kind === "get" && isValue(name)) return { do: kind, name };
	if (kind === "call" && kinds.get(name) === "function" && isText(text) && Number.isSafeInteger(id))
		return { do: kind, id: id as number, name: name as string, text };
	if (kind !== "set" || !Array.isArray(values) || values.length > kinds.size) return null;
	const isPair = (pair: unknown) => Array.isArray(pair) && isValue(pair[0]) && isText(pair[1]);
	return values.every(isPair) ? { do: kind, values: values.map(([one, own]) => [one, own]) } : null;
}
