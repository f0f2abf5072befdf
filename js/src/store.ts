// Every run this page has heard of, independent of what is on screen: batches in, states out.

import type { Meta } from "./events.ts";
import type { Batch, Message, Ready } from "./protocol.ts";
import { Link, type Send } from "./protocol.ts";
import { EMPTY, type VariantState } from "./state.ts";
import { Tape } from "./tape.ts";
import { Unpacker } from "./unpack.ts";

/** Messages of an unknown run after which the kernel is asked whose they are: an output mostly tells sooner. */
const PATIENCE = 5;

const NO_META: Meta = {
	name: "run",
	model: "",
	files_name: null,
	finished: false,
	stop_hint: "The kernel did not answer. Press its interrupt button to stop.",
	demo: false,
	budget: null,
	steps: null,
	outcome: null,
	network: false,
};

/** One execution of a cell, as far as it is known here. */
export interface RunState {
	readonly session: string;
	readonly meta: Meta;
	readonly have: number;
	readonly variants: ReadonlyMap<number, VariantState>;
	readonly ready: Ready | null;
	/** False when the same notebook is open elsewhere and that page holds the buttons. */
	readonly owner: boolean;
}

/** A file as the kernel gives it: text, or bytes in base64. */
export type Content = { media_type: string | null } & ({ text: string } | { base64: string });

/** A run's key, its newest state, and those who want to know of changes. */
export class RunEntry {
	readonly key: string;
	state: RunState | null = null;
	/** When its session was first heard of here. */
	since = 0;
	/** How many files have come: a page that uses them is drawn again. */
	loads = 0;
	/** The one view that reports what the page logs, where there are several. */
	reporter: object | null = null;
	readonly #link: Link;
	readonly #listeners = new Set<() => void>();
	readonly #contents = new Map<string, Content | null>();
	/** Every variant's events, for those who want to see them again. */
	readonly #tapes = new Map<number, Tape>();
	/** Sessions that a newer one has replaced: one may still be running in the background. */
	readonly #past = new Set<string>();
	/** The session that the kernel was last heard to hold under this key. */
	#greeted: string | null = null;
	#asking = false;
	#resyncing = false;
	/** Of the session that was greeted. */
	#owner = true;

	constructor(key: string, link: Link) {
		this.key = key;
		this.#link = link;
	}

	get busy(): boolean {
		return [...(this.state?.variants.values() ?? [])].some((variant) => variant.busy);
	}

	/** The mark of its frozen form, once there is one. */
	get outcome(): string | null {
		return this.state?.ready?.outcome ?? this.state?.meta.outcome ?? null;
	}

	subscribe(listener: () => void, signal: AbortSignal): void {
		this.#listeners.add(listener);
		signal.addEventListener("abort", () => this.#listeners.delete(listener), { once: true });
	}

	tape(variant: number): Tape | undefined {
		return this.#tapes.get(variant);
	}

	/**
	 * Asks the kernel about this run, once per session: that is how it knows that somebody is there to answer it.
	 * Batches follow by themselves.
	 */
	hello(): void {
		const session = this.state?.session ?? this.#greeted;
		if (this.#asking || (session !== null && session === this.#greeted)) return;
		this.#asking = true;
		void this.#link.command("hello", this.key).then((answer) => {
			this.#asking = false;
			if (answer.ok)
				this.#greet(String(answer.session), answer.owner !== false, answer.meta as Meta | undefined);
		});
	}

	/** The kernel knows which session is the newest: another one here is an older that still runs. */
	#greet(session: string, owner: boolean, meta: Meta | undefined): void {
		this.#greeted = session;
		this.#owner = owner;
		this.#past.delete(session);
		if (this.state && this.state.session !== session) this.#past.add(this.state.session);
		else this.#change({ owner, ...(meta && { meta }) });
	}

	command(
		name: "stop" | "approve" | "deny" | "pick" | "request" | "preview_report",
		fields: Record<string, unknown> = {},
	) {
		return this.#link.command(name, this.key, fields);
	}

	/** A file's content, as the kernel tells it. */
	async file(variant: number, path: string, version: number): Promise<Content | null> {
		const answer = await this.#link.command("file", this.key, { variant, path, version });
		if (!answer.ok) return null;
		const media_type = typeof answer.media_type === "string" ? answer.media_type : null;
		if (typeof answer.text === "string") return { media_type, text: answer.text };
		return { media_type, base64: String(answer.base64 ?? "") };
	}

	/** The same, at once: null until it has come. It is asked for once per version, and listeners are told. */
	content(variant: number, path: string, version: number): Content | null {
		const key = `${this.state?.session} ${variant} ${version} ${path}`;
		const known = this.#contents.get(key);
		if (known !== undefined) return known;
		this.#contents.set(key, null);
		void this.file(variant, path, version).then((content) => {
			this.#contents.set(key, content);
			this.loads++;
			this.#notify();
		});
		return null;
	}

	/** Takes what is new; a batch that starts over replaces, one that leaves a gap is asked for again. */
	receive(batch: Batch): void {
		if (this.#past.has(batch.session)) return;
		const same = this.state?.session === batch.session ? this.state : null;
		const have = same?.have ?? 0;
		if (batch.last <= have && same) {
			if (batch.meta) this.#change({ meta: batch.meta });
			return;
		}
		// Merged deltas may straddle what we have, so a batch is applied from where it starts, never from its middle.
		if (batch.first !== have + 1 && batch.first !== 1) {
			this.#resync(batch.session);
			return;
		}
		this.#resyncing = false;
		if (!same && this.state) this.#past.add(this.state.session);
		if (!same) this.#contents.clear();
		if (!same) this.since = performance.timeOrigin + performance.now();
		if (batch.first === 1) this.#tapes.clear();
		this.state = {
			session: batch.session,
			meta: batch.meta ?? same?.meta ?? NO_META,
			have: batch.last,
			variants: this.#apply(batch),
			ready: same?.ready ?? null,
			owner: this.#greeted !== batch.session || this.#owner,
		};
		this.#notify();
	}

	#apply(batch: Batch): Map<number, VariantState> {
		const next = new Map(batch.first === 1 ? [] : this.state?.variants);
		for (const event of batch.events) {
			const variant = event.variant ?? 0;
			const tape = this.#tapes.get(variant) ?? new Tape();
			this.#tapes.set(variant, tape);
			next.set(variant, tape.push(event));
		}
		if (next.size === 0) next.set(0, EMPTY);
		return next;
	}

	setReady(ready: Ready): void {
		if (this.state?.session === ready.session) this.#change({ ready });
	}

	#change(part: Partial<RunState>): void {
		if (this.state) this.state = { ...this.state, ...part };
		this.#notify();
	}

	#notify(): void {
		for (const listener of this.#listeners) listener();
	}

	/** Everything again: what came since the gap was counted from the wrong place. */
	#resync(session: string): void {
		if (this.#resyncing) return;
		this.#resyncing = true;
		void this.#link.command("resync", this.key, { session }).then(() => {
			this.#resyncing = false;
		});
	}
}

export class Store {
	readonly #link: Link;
	readonly #runs = new Map<string, RunEntry>();
	readonly #unpacker = new Unpacker();
	readonly #unknown = new Map<number, number>();
	/** The run that spoke last: the one a bare view shows. */
	latest: RunEntry | null = null;
	/** Told of every run that has something to show. */
	onRun: (run: RunEntry) => void = () => {};

	constructor(send: Send) {
		this.#link = new Link(send);
	}

	run(key: string): RunEntry {
		const known = this.#runs.get(key) ?? new RunEntry(key, this.#link);
		this.#runs.set(key, known);
		return known;
	}

	receive(packed: Message): void {
		const message = this.#unpacker.read(packed);
		if (message.kind === "unknown") {
			this.#askWhose(message.channel);
		} else if (message.kind === "answer") {
			this.#link.receive(message);
		} else if (message.kind === "ready") {
			const run = this.run(message.run);
			run.setReady(message);
			this.onRun(run);
		} else if (message.kind === "batch") {
			const run = this.run(message.run);
			run.receive(message);
			this.latest = run;
			this.onRun(run);
		}
	}

	#askWhose(channel: number | null): void {
		if (channel === null) return; // one that names it comes soon
		const heard = (this.#unknown.get(channel) ?? 0) + 1;
		this.#unknown.set(channel, heard);
		if (heard === PATIENCE) void this.#link.command("resync", `#${channel}`);
	}
}
