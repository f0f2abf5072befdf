// The kernel's half of the hub, for tests of the page: it records what the page sends, and sends what a test says.

import { expect, vi } from "vitest";
import type { Event, Meta } from "../src/run/events.ts";

export const META: Meta = {
	key: "k",
	name: "hero",
	model: "demo:",
	demo: true,
	magic: "agent",
	default_model: "demo:",
	repeats: [],
	about: [],
	undone: [],
	bound: [],
	connected: false,
	reviewable: false,
	decided: [],
	network: false,
	digest: null,
	failed_check: "",
	annotations: [],
	running_code: [],
	features: {},
	suggestions: [],
	number: 0,
	folds: false,
	stage: false,
};

type Fields = Record<string, unknown>;

export class Kernel {
	readonly sent: Fields[] = [];
	receive: (content: never) => void = () => {};
	/** The run of each key that the last batch was about: it answers a hello. */
	readonly #runs = new Map<unknown, unknown>();

	constructor(
		readonly id = "1",
		readonly channel = "",
	) {}

	get(name: string): unknown {
		return { kernel: this.id, channel: this.channel }[name];
	}

	on(_name: string, callback: (content: never) => void): void {
		this.receive = callback;
	}

	off(): void {
		this.receive = () => {};
	}

	send(message: Fields): void {
		this.sent.push(message);
		if (message.command === "hello") queueMicrotask(() => this.#greet(message));
	}

	#greet(hello: Fields): void {
		const run_id = this.#runs.get(hello.key);
		if (run_id) this.answer(hello, { ok: true, run_id, window: 1 });
	}

	/** Sends a message about the run `r1`, unless it says otherwise. */
	say(message: Fields): void {
		this.receive({ run_id: "r1", ...message } as never);
	}

	/** Sends events, numbered from `first`. */
	batch(first: number, events: readonly Event[], more: Fields = {}): void {
		const last = first + events.length - 1;
		const { run_id = "r1", meta = META } = more;
		this.#runs.set((meta as Meta).key, run_id);
		for (const hello of this.commands("hello")) this.#greet(hello);
		this.say({ kind: "batch", first, last, events, meta: META, ...more });
	}

	answer(message: Fields | undefined, fields: Fields): void {
		this.say({ kind: "answer", id: message?.id, ...fields });
	}

	commands(name: string): Fields[] {
		return this.sent.filter((message) => message.command === name);
	}
}

/** Resolves once everything is drawn, and what that requested as well. It counts frames, which may be slow. */
export async function soon(): Promise<void> {
	const later = new Promise((resolve) => setTimeout(resolve, 40));
	for (let frame = 0; frame < 4; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
	await later;
}

/** The first output on the page, and what is mounted over it. */
export const output = (): HTMLElement => document.querySelector<HTMLElement>("[data-anb-run]")!;
/** Waits until presses on the card that asks count. */
export async function still(): Promise<void> {
	await soon();
	await vi.waitFor(() => expect(shadow().querySelector(".anb-acts.waits")).toBeNull(), { timeout: 4000 });
}

export const shadow = (): ShadowRoot => output().shadowRoot!;

// happy-dom throws when the focus is in another shadow root, where browsers return null.
const { get } = Object.getOwnPropertyDescriptor(ShadowRoot.prototype, "activeElement")!;
Object.defineProperty(ShadowRoot.prototype, "activeElement", {
	configurable: true,
	get(this: ShadowRoot) {
		try {
			return get!.call(this);
		} catch {
			return null;
		}
	},
});

/** A screen on which everything is in sight until it is scrolled; happy-dom has none. */
export class WholeScreen {
	static readonly #all: WholeScreen[] = [];
	readonly #targets = new Set<Element>();
	constructor(readonly tell: (entries: { target: Element; isIntersecting: boolean }[]) => void) {
		WholeScreen.#all.push(this);
	}
	observe(target: Element): void {
		this.#targets.add(target);
		queueMicrotask(() => this.tell([{ target, isIntersecting: true }]));
	}
	static scroll(target: Element, isIntersecting: boolean): void {
		for (const one of WholeScreen.#all) if (one.#targets.has(target)) one.tell([{ target, isIntersecting }]);
	}
	disconnect(): void {}
}
Object.assign(globalThis, { IntersectionObserver: WholeScreen });
