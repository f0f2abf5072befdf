// Defines `notebook` in a page, which exposes only the names that the page is bound to. It runs in the page's own window,
// so the other end of the port does not trust its messages.

import { type Bound, type FromPage, MOST_TEXT, NO_KERNEL, type ToPage } from "../run/bound-messages.ts";

/** Milliseconds between two messages with new values. */
const FLUSH_AFTER = 40;
const MOST_CALLS = 100;

type Listener = (value: unknown) => void;
interface Waiting {
	resolve(value: unknown): void;
	reject(error: Error): void;
}
/** A call with `latest`: only the newest arguments wait until it has ended. */
interface Latest {
	text: string;
	result: Promise<unknown>;
	next: Latest | null;
}

// Saved before the page runs: it could replace them.
const { parse, stringify } = JSON;
const { apply } = Reflect;
const later = window.setTimeout.bind(window);
const readData = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data")?.get as () => ToPage;
const { postMessage } = MessagePort.prototype;

/** The page's access to the kernel, or to the saved values. */
class NotebookClient {
	readonly #bound: Bound;
	readonly #kinds: ReadonlyMap<string, string>;
	readonly #values = new Map<string, unknown>();
	readonly #asked = new Set<string>();
	readonly #listeners = new Map<string, Set<Listener>>();
	readonly #waiting = new Map<string, Waiting[]>();
	readonly #calls = new Map<number, Waiting>();
	readonly #latest = new Map<string, Latest>();
	readonly #unsent = new Map<string, string>();
	#count = 0;
	/** Why the kernel cannot be reached; empty if it can. */
	#off: string;

	constructor(bound: Bound) {
		this.#bound = bound;
		this.#kinds = new Map(bound.names.map(({ name, kind }) => [name, kind]));
		this.#off = bound.port ? "" : NO_KERNEL;
		if (bound.port) bound.port.onmessage = (event) => this.#receive(apply(readData, event, []));
	}

	async get(name: string): Promise<unknown> {
		const why = this.#ask(this.#check(name, false));
		if (why) throw new Error(why);
		if (this.#values.has(name)) return this.#values.get(name);
		return new Promise((resolve, reject) => {
			this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), { resolve, reject }]);
		});
	}

	on(name: string, listener: Listener): () => void {
		const all = this.#listeners.get(this.#check(name, false)) ?? new Set();
		this.#listeners.set(name, all.add(listener));
		const why = this.#ask(name);
		if (why) console.warn(why);
		else if (this.#values.has(name)) tell(listener, this.#values.get(name));
		return () => void all.delete(listener);
	}

	set(name: string, value: unknown): void {
		const text = written(value, "null");
		this.#take(this.#check(name, false), parse(text));
		if (this.#off) return;
		if (this.#unsent.size === 0) later(() => this.#flush(), FLUSH_AFTER);
		this.#unsent.set(name, text);
	}

	async call(name: string, args: unknown = {}, options: { latest?: boolean } = {}): Promise<unknown> {
		const text = written(args, "{}");
		this.#check(name, true);
		return options?.latest ? this.#callLatest(name, text) : this.#call(name, text);
	}

	#send(message: FromPage): void {
		apply(postMessage, this.#bound.port, [message]);
	}

	#check(name: string, called: boolean): string {
		const kind = this.#kinds.get(name);
		if (kind === undefined)
			throw new Error(`The page is bound to no "${name}", only to ${[...this.#kinds.keys()].join(", ")}.`);
		if ((kind === "function") !== called)
			throw new Error(`"${name}" is a ${called ? "value: use get, on or set" : "function: use call"}.`);
		return name;
	}

	/** Subscribes to a value. Returns an error message if that is not possible. */
	#ask(name: string): string {
		const { port, saved } = this.#bound;
		if (!this.#off) {
			if (!this.#asked.has(name)) this.#send({ do: "get", name });
			this.#asked.add(name);
		} else if (this.#values.has(name)) return "";
		else if (Object.hasOwn(saved, name)) this.#take(name, parse(saved[name] ?? "null"));
		else if (this.#kinds.get(name) === "filled") this.#take(name, null);
		else return port ? this.#off : `"${name}" was not saved with the page: it needs the kernel.`;
		return "";
	}

	#take(name: string, value: unknown): void {
		this.#values.set(name, value);
		this.#settle(name, ({ resolve }) => resolve(value));
	}

	#settle(name: string, act: (waiting: Waiting) => void): void {
		this.#waiting.get(name)?.forEach(act);
		this.#waiting.delete(name);
	}

	#flush(): void {
		this.#send({ do: "set", values: [...this.#unsent] });
		this.#unsent.clear();
	}

	async #call(name: string, text: string): Promise<unknown> {
		if (this.#off) throw new Error(this.#off);
		if (this.#calls.size >= MOST_CALLS) throw new Error(`${MOST_CALLS} calls are waiting already.`);
		return new Promise((resolve, reject) => {
			this.#calls.set(++this.#count, { resolve, reject });
			this.#send({ do: "call", id: this.#count, name, text });
		});
	}

	/** Superseded calls get the result of the newest. */
	#callLatest(name: string, text: string): Promise<unknown> {
		const running = this.#latest.get(name);
		if (running?.next) {
			running.next.text = text;
			return running.next.result;
		}
		const latest: Latest = { text, result: Promise.resolve(), next: null };
		const start = () => {
			this.#latest.set(name, latest);
			return this.#call(name, latest.text);
		};
		latest.result = (running ? running.result.then(start, start) : start()).finally(() => {
			if (!latest.next) this.#latest.delete(name);
		});
		if (running) running.next = latest;
		return latest.result;
	}

	#receive(message: ToPage): void {
		if (message.do === "off") this.#close(message.why);
		else if (message.do === "result") {
			const call = this.#calls.get(message.id);
			this.#calls.delete(message.id);
			if ("error" in message) call?.reject(new Error(message.error));
			else call?.resolve(parse(message.text));
		} else if ("error" in message) {
			this.#asked.delete(message.name);
			this.#settle(message.name, ({ reject }) => reject(new Error(message.error)));
		} else if (!this.#unsent.has(message.name)) {
			// Otherwise the page has set a newer value.
			const value = parse(message.text);
			this.#take(message.name, value);
			for (const listener of this.#listeners.get(message.name) ?? []) tell(listener, value);
		}
	}

	#close(why: string): void {
		this.#off = why;
		const all = [...this.#calls.values(), ...[...this.#waiting.values()].flat()];
		this.#calls.clear();
		this.#waiting.clear();
		for (const { reject } of all) reject(new Error(why));
	}
}

/** Runs a callback of the page. One that throws must not prevent the others from running. */
function tell(listener: Listener, value: unknown): void {
	later(() => listener(value));
}

function written(value: unknown, otherwise: string): string {
	const text = stringify(value) ?? otherwise;
	if (text.length > MOST_TEXT) throw new Error(`The value has more than ${MOST_TEXT / 1e6} MB as JSON.`);
	return text;
}

export function defineNotebook(bound: Bound): void {
	if (Object.hasOwn(window, "notebook")) return;
	const client = new NotebookClient(bound);
	const value = Object.freeze({
		get: (name: unknown) => client.get(String(name)),
		on: (name: unknown, listener: Listener) => client.on(String(name), listener),
		set: (name: unknown, value: unknown) => client.set(String(name), value),
		call: (name: unknown, args?: unknown, options?: { latest?: boolean }) =>
			client.call(String(name), args, options),
	});
	Object.defineProperty(window, "notebook", { value, enumerable: true });
}
