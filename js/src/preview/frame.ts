// One sandboxed frame for one load of a page: writes the page into it, and notices when it hangs or leaves.

import type { GivenField } from "./fields.ts";
import { guardFocus } from "./focus.ts";
import { Gate, gated } from "./gate.ts";
import { type ConsoleEntry, type Hello, MOST_PER_SECOND, readMessage, type ToFrame } from "./messages.ts";
import { SANDBOX } from "./policy.ts";
import { shellDocument } from "./shell.ts";

const PIECE = 128 * 1024;
const PING_EVERY = 1000;
/** Pings without an answer after which the page counts as hung. */
const PATIENCE = 4;
/** Messages in a second after which the frame is stopped; its own script sends far fewer. */
const FLOOD = 1000;

/** Why a page is no longer shown. */
export type Loss = "hung" | "left" | "flooded" | "grabbed";

export interface FrameEvents {
	/** The frame is empty and needs its page: at first, and whenever the browser has reloaded it. */
	onReady(): void;
	/** There is something to see. */
	onShown(): void;
	/** `script` is the inline script that `entry.line` counts from. */
	onConsole(entry: ConsoleEntry, script?: string): void;
	/** A tag was changed because its frame or refresh would have connected to a host. Called once for each. */
	onBlocked(tag: string): void;
	onLink(href: string): void;
	/** `share` says how far, from 0 to 1. */
	onScrolled(share: number): void;
	onUnmorphable(): void;
	onGiven(fields: GivenField[]): void;
	onLost(why: Loss): void;
}

export class Frame {
	readonly element: HTMLIFrameElement;
	readonly #events: FrameEvents;
	// `crypto.randomUUID` exists only on https and localhost, and many notebooks are served over plain http.
	readonly #secret = crypto.getRandomValues(new Uint32Array(4)).join("-");
	readonly #abort = new AbortController();
	readonly #onPressed: () => void;
	#port: MessagePort | null = null;
	#queue: ToFrame[] = [];
	#writing = false;
	#unanswered = 0;
	#used = false;
	/** How many messages came in this second, and how many of them were to be shown. */
	#received = { second: 0, all: 0, shown: 0 };
	/** A morph has been sent, and not refused yet. */
	#morphing = false;
	#gate = new Gate();
	readonly #blocked = new Set<string>();
	/** What the person has given to the fields has been asked for. */
	#taking = false;
	scroll = { x: 0, y: 0 };

	/** Whether the page may load from any https address. */
	readonly network: boolean;

	constructor(events: FrameEvents, network = false) {
		this.network = network;
		this.#events = events;
		this.element = document.createElement("iframe");
		this.element.title = "Preview";
		this.element.setAttribute("sandbox", SANDBOX);
		this.element.setAttribute("referrerpolicy", "no-referrer");
		this.element.srcdoc = shellDocument(this.#secret, network);
		const { signal } = this.#abort;
		window.addEventListener("message", (event) => this.#greet(event), { signal });
		this.#onPressed = guardFocus(this.element, signal, () => this.#lose("grabbed"));
		const timer = setInterval(() => this.#ping(), PING_EVERY);
		signal.addEventListener("abort", () => clearInterval(timer));
	}

	/** Whether the person has done something in the page. */
	get used(): boolean {
		return this.#used || this.element.matches(":focus");
	}

	dispose(): void {
		this.#abort.abort();
		this.#port?.close();
		this.#port = null;
		this.element.remove();
	}

	/** Adds to the page in pieces; each is sent once the frame has taken the one before. */
	write(piece: string): void {
		this.#sendText(this.#gate.push(piece));
	}

	open(): void {
		this.#gate = new Gate();
		this.#blocked.clear();
		this.#send({ do: "open" });
	}

	close(): void {
		this.#sendText(this.#gate.push("", true));
		this.#send({ do: "close" });
	}

	/** With `reveal`, shows where the page has changed. */
	morph(from: string, to: string, reveal: boolean): void {
		this.#morphing = true;
		this.#gate = new Gate();
		this.#send({ do: "morph", from: gated(from), to: this.#gate.push(to, true), reveal });
		this.#reportBlocked();
	}

	reveal(from: string, to: string): void {
		this.#send({ do: "reveal", from: gated(from), to: gated(to) });
	}

	#sendText(text: string): void {
		let from = 0;
		while (from < text.length) {
			const to = wholeEnd(text, Math.min(from + PIECE, text.length));
			this.#send({ do: "write", text: text.slice(from, to) });
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

	/** Asks for what the person has given to the fields; `onGiven` gets it. */
	takeFields(): void {
		this.#taking = true;
		this.#send({ do: "take" });
	}

	putFields(fields: GivenField[]): void {
		if (fields.length) this.#send({ do: "put", fields });
	}

	/** Runs a script of ours in the page. It finds `given`, and answers through its port. */
	run(code: string, given: { port: MessagePort }): void {
		this.#send({ do: "run", code, given });
	}

	scrollTo(position: { x: number; y: number }): void {
		this.#send({ do: "scroll", ...position });
	}

	scrollToShare(share: number): void {
		this.#send({ do: "place", share });
	}

	#greet(event: MessageEvent): void {
		if (!isInside(event.source as Window | null, this.element.contentWindow) || !this.#count()) return;
		const port = event.ports[0];
		if (!port) return;
		if ((event.data as Partial<Hello> | null)?.agent_nb_preview !== this.#secret) return;
		this.#port?.close();
		this.#port = port;
		this.#queue = [];
		this.#writing = false;
		this.#unanswered = 0;
		port.onmessage = (message: MessageEvent<unknown>) => this.#receive(message.data);
		this.#events.onReady();
	}

	#receive(data: unknown): void {
		const message = this.#port && this.#count() ? readMessage(data) : null;
		switch (message?.is) {
			case "wrote":
				this.#writing = false;
				if (message.body) this.#events.onShown();
				this.#flush();
				break;
			case "alive":
				this.#unanswered = 0;
				this.scroll = { x: message.x, y: message.y };
				break;
			case "scrolled":
				this.#events.onScrolled(message.share);
				break;
			case "console":
				if (this.#mayShow()) this.#events.onConsole(message.entry, message.script);
				break;
			case "link":
				if (this.#mayShow()) this.#events.onLink(message.href);
				break;
			case "unmorphable":
				if (this.#morphing) this.#events.onUnmorphable();
				this.#morphing = false;
				break;
			case "given":
				if (this.#taking) this.#events.onGiven(message.fields);
				this.#taking = false;
				break;
			case "pressed":
			case "typed":
				this.#used = true;
				if (message.is === "pressed") this.#onPressed();
				break;
			case "leaving":
				this.#lose("left");
				break;
		}
	}

	/** Counts a message; returns false and stops the frame when there are too many. */
	#count(): boolean {
		const second = Math.floor(performance.now() / 1000);
		if (second !== this.#received.second) this.#received = { second, all: 0, shown: 0 };
		if (++this.#received.all <= FLOOD) return true;
		this.#port?.close();
		this.#port = null;
		this.#lose("flooded");
		return false;
	}

	/** Whether to show one more. Allows twice the limit of the frame's script, whose seconds begin at other times. */
	#mayShow(): boolean {
		return ++this.#received.shown <= 2 * MOST_PER_SECOND;
	}

	#ping(): void {
		if (!this.element.isConnected || document.hidden) return;
		if (this.#unanswered >= PATIENCE) {
			this.#lose("hung");
			return;
		}
		this.#unanswered++;
		this.#port?.postMessage({ do: "ping" } satisfies ToFrame);
	}

	#lose(why: Loss): void {
		// A frame that is removed from the page reports that it leaves, too.
		if (this.element.isConnected) this.#events.onLost(why);
	}

	#send(message: ToFrame): void {
		if (!this.#port) return;
		this.#queue.push(message);
		this.#flush();
	}

	#flush(): void {
		while (!this.#writing && this.#port) {
			const message = this.#queue.shift();
			if (!message) return;
			this.#writing = message.do === "write";
			this.#port.postMessage(message, message.do === "run" ? [message.given.port] : []);
		}
	}
}

/** Whether a window is the frame's, or that of a frame inside it, however deep: a page may create frames. */
function isInside(source: Window | null, frame: Window | null): boolean {
	let at = source;
	while (at && at !== frame) at = at.parent === at ? null : at.parent;
	return at !== null;
}

/** `end`, or one less where it would cut a surrogate pair. */
function wholeEnd(text: string, end: number): number {
	const unit = text.charCodeAt(end - 1);
	return end < text.length && unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end;
}
