// One sandboxed frame for one load of a page: writes the page into it, and detects when it hangs or navigates.

import { h } from "../base/dom.ts";
import { scrollAround } from "../base/into-view.ts";
import { leave } from "../base/keys.ts";
import { isInside } from "../base/windows.ts";
import type { Bound } from "../run/bound-messages.ts";
import { guardFocus } from "./focus.ts";
import { Gate, gated } from "./gate.ts";
import {
	ANSWERS,
	type ConsoleEntry,
	type FrameAnswer,
	type FrameReports,
	type FrameRequest,
	type FrameRequests,
	type Hello,
	type Loss,
	MOST_PER_SECOND,
	REPORTS,
	type Scroll,
} from "./messages.ts";
import { wholeEnd } from "./resolve.ts";
import { type Mode, SANDBOX, shellDocument } from "./shell.ts";

const PIECE = 128 * 1024;
const PING_EVERY = 1000;
/** Unanswered pings after which the page counts as hung. */
const PATIENCE = 4;
/** Messages per second above which the frame is stopped; our script sends far fewer. */
const FLOOD = 1000;

export interface FrameEvents {
	/** The frame is empty and needs its page: at first, and whenever the browser has reloaded it. */
	onReady(): void;
	/** A tag was blocked because its frame or refresh would have connected to a host. Called once per address. */
	onBlocked(tag: string): void;
	onLost(why: Loss): void;
	/** There is something to see. */
	onShown?(): void;
	/** `script` is the inline script that `entry.line` counts from. */
	onConsole?(entry: ConsoleEntry, script?: string): void;
	onLink?(href: string): void;
	/** The user has pressed Ctrl+S or Cmd+S. */
	onSave?(): void;
	/** `share` says how far, from 0 to 1. */
	onScrolled?(share: number): void;
}

/** A message that the frame has not answered yet. */
interface Pending {
	ask: FrameRequest;
	given: FrameRequests[FrameRequest];
	sent: boolean;
	/** Called with null if there will be no answer. */
	settle(answer: unknown): void;
}

type Handlers = { [K in keyof FrameReports]: (given: FrameReports[K]) => void };

export class Frame {
	readonly element: HTMLIFrameElement;
	readonly #events: FrameEvents;
	// `crypto.randomUUID` exists only on https and localhost, and many notebooks are served over plain http.
	readonly #secret = crypto.getRandomValues(new Uint32Array(4)).join("-");
	readonly #abort = new AbortController();
	#load = new AbortController();
	readonly #onPressed: () => void;
	#port: MessagePort | null = null;
	/** In the order in which they are sent. */
	readonly #pending = new Map<number, Pending>();
	#count = 0;
	#used = false;
	/** Messages received in this second, and how many of them were console entries. */
	#received = { second: 0, all: 0, shown: 0 };
	#gate = new Gate();
	readonly #blocked = new Set<string>();
	readonly #handlers: Handlers;
	scroll: Scroll = { x: 0, y: 0 };

	constructor(
		events: FrameEvents,
		readonly mode: Mode = "closed",
	) {
		this.#events = events;
		const srcdoc = shellDocument(this.#secret, mode);
		const props = { title: "Preview", sandbox: SANDBOX, referrerpolicy: "no-referrer", srcdoc };
		this.element = h("iframe", props);
		const { signal } = this.#abort;
		window.addEventListener("message", (event) => this.#greet(event), { signal });
		const isOwn = (element: Element): boolean => element === this.element;
		this.#onPressed = guardFocus(isOwn, signal, () => this.#lose("grabbed"));
		this.#handlers = this.#listeners();
		const timer = setInterval(() => this.#ping(), PING_EVERY);
		signal.addEventListener("abort", () => clearInterval(timer));
	}

	/** Whether the user has interacted with the page. */
	get used(): boolean {
		return this.#used || this.element.matches(":focus");
	}

	/** Aborted when the page is removed, or reloaded by the browser. */
	get signal(): AbortSignal {
		return this.#load.signal;
	}

	dispose(): void {
		this.#abort.abort();
		this.#connect(null);
		this.element.remove();
	}

	/**
	 * Resolves to the frame's answer; null if the answer is invalid, or if the frame is removed or reloaded before it
	 * answers.
	 */
	ask<K extends FrameRequest>(ask: K, given: FrameRequests[K]): Promise<FrameAnswer<K> | null> {
		return new Promise((resolve) => {
			const settle = (answer: unknown): void => resolve(ANSWERS[ask](answer) as FrameAnswer<K> | null);
			this.#pending.set(++this.#count, { ask, given, sent: false, settle });
			if (ask === "ping") this.#post(this.#count);
			else this.#flush();
		});
	}

	/** Appends to the page in pieces; each is sent once the frame has acknowledged the previous one. */
	write(piece: string): void {
		this.#sendText(this.#gate.push(piece));
	}

	open(bound: Bound | null = null): void {
		this.#gate = new Gate();
		this.#blocked.clear();
		void this.ask("open", bound);
	}

	close(): void {
		this.#sendText(this.#gate.push("", true));
		void this.ask("close", null).then(this.#onWritten);
	}

	/** Edits the page in place, and shows the change with `reveal`. Resolves to false if the page must be reloaded. */
	morph({ from, to, ...rest }: FrameRequests["morph"]): Promise<boolean | null> {
		this.#gate = new Gate();
		const morphed = this.ask("morph", { from: gated(from), to: this.#gate.push(to, true), ...rest });
		this.#reportBlocked();
		return morphed;
	}

	reveal(from: string, to: string): void {
		void this.ask("reveal", { from: gated(from), to: gated(to) });
	}

	readonly #onWritten = (body: boolean | null): void => {
		if (body) this.#events.onShown?.();
	};

	#sendText(text: string): void {
		let from = 0;
		while (from < text.length) {
			const to = from + PIECE < text.length ? wholeEnd(text, from + PIECE) : text.length;
			void this.ask("write", text.slice(from, to)).then(this.#onWritten);
			from = to;
		}
		this.#reportBlocked();
	}

	#reportBlocked(): void {
		for (const tag of this.#gate.blocked) {
			if (!this.#blocked.has(tag)) this.#events.onBlocked(tag);
			this.#blocked.add(tag);
		}
	}

	#greet(event: MessageEvent): void {
		if (!isInside(event.source as Window | null, this.element.contentWindow) || !this.#mayReceive()) return;
		const port = event.ports[0];
		if (!port) return;
		if ((event.data as Partial<Hello> | null)?.agent_nb_preview !== this.#secret) return;
		this.#connect(port);
		port.onmessage = (message: MessageEvent<unknown>) => this.#receive(message.data);
		this.#events.onReady();
	}

	/** Settles all pending requests with null. */
	#connect(port: MessagePort | null): void {
		this.#load.abort();
		this.#load = new AbortController();
		this.#port?.close();
		this.#port = port;
		const unanswered = [...this.#pending.values()];
		this.#pending.clear();
		for (const { settle } of unanswered) settle(null);
	}

	#receive(data: unknown): void {
		if (!this.#port || !this.#mayReceive()) return;
		const { id, answer, tell, given } = (data ?? {}) as Record<string, unknown>;
		const pending = this.#pending.get(id as number);
		if (pending?.sent) {
			this.#pending.delete(id as number);
			pending.settle(answer);
			this.#flush();
		} else if (Object.hasOwn(REPORTS, String(tell))) this.#hear(tell as keyof FrameReports, given);
	}

	#hear<K extends keyof FrameReports>(tell: K, data: unknown): void {
		const report = REPORTS[tell](data) as FrameReports[K] | null;
		if (report !== null) this.#handlers[tell](report);
	}

	#listeners(): Handlers {
		const events = this.#events;
		return {
			scrolled: (share) => events.onScrolled?.(share),
			wheel: ({ by, to }) => {
				if (!scrollAround(this.element, by)) void this.ask("scroll", { x: this.scroll.x, y: to });
			},
			console: ({ entry, script }) => this.#mayShow() && events.onConsole?.(entry, script),
			link: (href) => this.#mayShow() && events.onLink?.(href),
			typed: () => {
				this.#used = true;
			},
			pressed: () => {
				this.#used = true;
				this.#onPressed();
			},
			leaving: () => this.#lose("left"),
			escaped: () =>
				this.#hasFocus && leave(this.#root instanceof ShadowRoot ? this.#root.host : this.element),
			save: () => this.#hasFocus && this.#mayShow() && events.onSave?.(),
		};
	}

	get #hasFocus(): boolean {
		return this.#root.activeElement === this.element;
	}

	get #root(): Document | ShadowRoot {
		return this.element.getRootNode() as Document | ShadowRoot;
	}

	/** Counts a message; returns false and stops the frame when there are too many. */
	#mayReceive(): boolean {
		const second = Math.floor(performance.now() / 1000);
		if (second !== this.#received.second) this.#received = { second, all: 0, shown: 0 };
		if (++this.#received.all <= FLOOD) return true;
		this.#connect(null);
		this.#lose("flooded");
		return false;
	}

	/** Whether to show one more entry. Allows twice the script's limit, because its seconds start at other times. */
	#mayShow(): boolean {
		return ++this.#received.shown <= 2 * MOST_PER_SECOND;
	}

	#ping(): void {
		if (!this.element.isConnected || document.hidden) return;
		const unanswered = [...this.#pending.values()].filter(({ ask }) => ask === "ping");
		if (unanswered.length >= PATIENCE) this.#lose("hung");
		else
			void this.ask("ping", null).then((scroll) => {
				this.scroll = scroll ?? this.scroll;
			});
	}

	#lose(why: Loss): void {
		// A frame that is removed from the page also reports that it is leaving.
		if (this.element.isConnected) this.#events.onLost(why);
	}

	/** Sends pending requests; those after a piece of the page wait for its acknowledgement. Pings do not wait. */
	#flush(): void {
		for (const [id, { ask, sent }] of this.#pending) {
			if (!sent) this.#post(id);
			if (ask === "write") return;
		}
	}

	#post(id: number): void {
		const pending = this.#pending.get(id);
		if (!pending || !this.#port) return;
		pending.sent = true;
		const { ask, given } = pending;
		const ports = [
			ask === "run" && (given as FrameRequests["run"]).given.port,
			ask === "open" && (given as Bound)?.port,
		];
		this.#port.postMessage(
			{ id, ask, given },
			ports.filter((port) => port instanceof MessagePort),
		);
	}
}
