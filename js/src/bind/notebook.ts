// Defines `notebook` in a page, which exposes only the names that the page is bound to. It runs in the page's own window,
// so the other end of the port does not trust its messages.

import { type Bound, type FromPage, MOST_TEXT, NO_KERNEL, type ToPage } from "./messages.ts";

/** Milliseconds between two messages with new values. */
const FLUSH_AFTER = 40;
const MOST_CALLS = 100;

type Listener = (value: unknown) => void;
interface Waiting {
	resolve(value: unknown): void;
	reject(error: Error): void;
}
/** Calls of one function with `latest`: one runs, and the newest arguments wait. */
interface Latest {
	next: string | null;
	waiting: Waiting[];
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

	get(name: string): Promise<unknown> {
		return new Promise((resolve, reject) => {
			const why = this.#ask(this.#check(name, false));
			if (why) reject(new Error(why));
			else if (this.#values.has(name)) resolve(this.#values.get(name));
			else this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), { resolve, reject }]);
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

	call(name: string, args: unknown = {}, options: { latest?: boolean } = {}): Promise<unknown> {
		return new Promise((resolve, reject) => {
			const text = written(args, "{}");
			const call = { resolve, reject };
			if (options?.latest) this.#startLatest(this.#check(name, true), text, call);
			else this.#start(this.#check(name, true), text, call);
		});
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
		if (this.#values.has(name) || this.#asked.has(name)) return "";
		if (!this.#off) {
			this.#asked.add(name);
			this.#send({ do: "get", name });
		} else if (Object.hasOwn(saved, name)) this.#take(name, parse(saved[name] ?? "null"));
		else if (this.#kinds.get(name) === "filled") this.#take(name, null);
		else return port ? this.#off : `"${name}" was not saved with the page: it needs the kernel.`;
		return "";
	}

	#take(name: string, value: unknown): void {
		this.#values.set(name, value);
		for (const { resolve } of this.#waiting.get(name) ?? []) resolve(value);
		this.#waiting.delete(name);
	}

	#flush(): void {
		this.#send({ do: "set", values: [...this.#unsent] });
		this.#unsent.clear();
	}

	#start(name: string, text: string, call: Waiting): void {
		if (this.#off) call.reject(new Error(this.#off));
		else if (this.#calls.size >= MOST_CALLS)
			call.reject(new Error(`${MOST_CALLS} calls are waiting already.`));
		else {
			this.#calls.set(++this.#count, call);
			this.#send({ do: "call", id: this.#count, name, text });
		}
	}

	/** Queues only the newest arguments while a call runs; superseded calls get the same result. */
	#startLatest(name: string, text: string, call: Waiting): void {
		const running = this.#latest.get(name);
		if (running) {
			running.next = text;
			running.waiting.push(call);
			return;
		}
		const latest: Latest = { next: null, waiting: [] };
		this.#latest.set(name, latest);
		const then = (settle: (waiting: Waiting) => void) => {
			settle(call);
			this.#latest.delete(name);
			const all = (act: (waiting: Waiting) => void): void => latest.waiting.forEach(act);
			if (latest.next === null) return;
			this.#startLatest(name, latest.next, {
				resolve: (value) => all((waiting) => waiting.resolve(value)),
				reject: (error) => all((waiting) => waiting.reject(error)),
			});
		};
		this.#start(name, text, {
			resolve: (value) => then((waiting) => waiting.resolve(value)),
			reject: (error) => then((waiting) => waiting.reject(error)),
		});
	}

	#receive(message: ToPage): void {
		if (message.do === "off") this.#close(message.why);
		else if (message.do === "value") {
			// A value that the page has set and not sent yet is newer.
			if (this.#unsent.has(message.name)) return;
			const value = parse(message.text);
			this.#take(message.name, value);
			for (const listener of this.#listeners.get(message.name) ?? []) tell(listener, value);
		} else {
			const call = this.#calls.get(message.id);
			this.#calls.delete(message.id);
			if ("error" in message) call?.reject(new Error(message.error));
			else call?.resolve(parse(message.text));
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
