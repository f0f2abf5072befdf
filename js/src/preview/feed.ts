// Keeps a frame showing the newest page: writes it while it arrives, morphs it when it is edited, and loads it again
// when its scripts have changed.

import type { Bound } from "../bind/messages.ts";
import type { SavedField } from "./fields.ts";
import { Frame, type FrameEvents } from "./frame.ts";
import type { ConsoleEntry, Loss, Scroll } from "./messages.ts";
import { Resolver, type Source, writable } from "./resolve.ts";
import type { Mode } from "./shell.ts";

/** Milliseconds until a hung frame is gone: a frame created sooner would share its process, and hang with it. */
const HUNG_FOR = 2500;

export interface Page {
	/** Identifies the page. */
	key: string;
	path: string;
	text: string;
	/** The stream that the text belongs to: while it stays the same, the text only grows. Null for a finished text. */
	epoch: number | null;
	/** True while more is to come. */
	live: boolean;
	source: Source;
	/** Changes whenever a file changes. */
	stamp: string;
}

/** What stays when a page is loaded into a new frame: all includes what was given to its fields. */
type Keep = "all" | "scroll" | "nothing";

/** What pages have besides their files. */
export interface Access {
	mode(): Mode;
	/** What a frame's page is bound to; null if it is not. */
	connect(frame: Frame): Bound | null;
}

export interface FeedEvents {
	onConsole(entry: ConsoleEntry): void;
	/** A page begins: everything reported about the previous one is void. */
	onRestart(): void;
	/** There is something to see. */
	onShown(): void;
	onLink(href: string): void;
	onSave(): void;
	/** `share` says how far, from 0 to 1. */
	onScrolled(share: number): void;
	onLost(why: Loss): void;
}

export class Feed {
	readonly #holder: HTMLElement;
	readonly #events: FeedEvents;
	readonly #access: Access;
	readonly #reveals: boolean;
	#frame: Frame | null = null;
	/** The previous frame, which stays on screen until the new one has something to show. */
	#old: Frame | null = null;
	#page: Page | null = null;
	#ready = false;
	#resolver: Resolver | null = null;
	/** How much of the text has been written to the frame, and of which stream. */
	#fed = 0;
	#epoch: number | null = null;
	#closed = false;
	/** What the user has given to the fields of the previous frame. */
	#given: SavedField[] = [];
	#html = "";
	/** Where the page was last scrolled to from outside. */
	#share: number | null = null;
	/** The page before its last edit, until the edit has been shown. */
	#before: string | null = null;
	#stamp = "";
	/** The stamp of the page that had to be stopped; the next version gets another chance. */
	#lost: string | null = null;
	/** Where the page was when its frame was given up. */
	#scroll: Scroll | undefined;
	#hungUntil = 0;
	#later: ReturnType<typeof setTimeout> | undefined;

	/** With `reveals`, edits are scrolled to. */
	constructor(holder: HTMLElement, events: FeedEvents, access: Access, reveals = false) {
		this.#holder = holder;
		this.#events = events;
		this.#access = access;
		this.#reveals = reveals;
	}

	/** Prepares a frame before there is a page: creating one takes longer than writing into it. */
	warm(): void {
		if (!this.#frame) this.#make(undefined);
	}

	show(page: Page): void {
		const before = this.#page;
		this.#page = page;
		if (page.stamp === this.#lost) return;
		if (!this.#frame || (before && before.key !== page.key))
			this.reload(before?.key === page.key ? "all" : "nothing");
		else if (this.#frame.mode !== this.#access.mode()) this.reload("all");
		else if (this.#ready && before) this.#advance(page);
		else if (this.#ready) this.#begin(undefined);
	}

	/** Loads the page into a new frame: scripts leave traces in a window that nothing else removes. */
	reload(keep: Keep = "scroll"): void {
		this.#lost = null;
		clearTimeout(this.#later);
		const wait = this.#hungUntil - performance.now();
		if (wait > 0) this.#later = setTimeout(() => this.reload(keep), wait);
		else if (this.#page) this.#replace(keep);
	}

	#replace(keep: Keep): void {
		if (keep !== "all") {
			this.#given = [];
			this.#before = null;
		}
		if (keep === "all" && this.#closed)
			void this.#frame?.ask("take", null).then((fields) => this.#put(fields));
		this.#make(keep === "nothing" ? undefined : (this.#frame?.scroll ?? this.#scroll));
	}

	#make(scroll: Scroll | undefined): void {
		this.#old?.dispose();
		this.#old = this.#frame;
		const handlers: FrameEvents = {
			onReady: () => {
				if (frame !== this.#frame) return;
				this.#ready = true;
				if (this.#page) this.#begin(scroll);
			},
			onShown: () => this.#uncover(frame),
			onConsole: (entry, script) => this.#events.onConsole(located(entry, script, this.#page)),
			onBlocked: (tag) => this.#events.onConsole({ level: "warn", text: `Blocked by the sandbox: ${tag}` }),
			onLink: (href) => this.#events.onLink(href),
			onSave: () => this.#events.onSave(),
			onScrolled: (share) => this.#events.onScrolled(share),
			onLost: (why) => this.lose(frame, why),
		};
		const frame: Frame = new Frame(handlers, this.#access.mode());
		this.#frame = frame;
		this.#ready = false;
		if (this.#old) frame.element.style.visibility = "hidden";
		this.#holder.append(frame.element);
	}

	/** Gives the fields of the page what the previous frame had in them. */
	#put(fields: SavedField[] | null): void {
		if (fields) this.#given = fields;
		if (this.#closed && this.#given.length) void this.#frame?.ask("put", this.#given);
	}

	/** Gives the frame up, unless the user has used the page: nothing else would bring back what they did. */
	rest(): void {
		if (!this.#frame || this.#frame.used) return;
		this.#scroll = this.#frame.scroll;
		this.dispose();
	}

	/** Runs a script of ours in the page. */
	run(code: string, given: { port: MessagePort }): void {
		void this.#frame?.ask("run", { code, given });
	}

	scrollToShare(share: number): void {
		this.#share = share;
		void this.#frame?.ask("place", share);
	}

	/** Removes the page. */
	clear(): void {
		if (!this.#page) return;
		this.dispose();
		this.#page = null;
	}

	dispose(): void {
		clearTimeout(this.#later);
		this.#old?.dispose();
		this.#frame?.dispose();
		this.#old = this.#frame = null;
		this.#ready = false;
	}

	/** Stops a page. */
	lose(frame: Frame, why: Loss): void {
		if (frame !== this.#frame) return;
		this.dispose();
		if (why === "hung") this.#hungUntil = performance.now() + HUNG_FOR;
		this.#lost = this.#page?.stamp ?? "";
		this.#events.onLost(why);
	}

	#uncover(frame: Frame): void {
		if (frame !== this.#frame) return;
		frame.element.style.visibility = "";
		this.#events.onShown();
		this.#old?.dispose();
		this.#old = null;
	}

	/** Starts the page in a frame that is ready and empty. */
	#begin(scroll: Scroll | undefined): void {
		const [page, frame] = [this.#page, this.#frame];
		if (!page || !frame) return;
		frame.element.title = `Preview of ${page.path}`;
		this.#fed = 0;
		this.#closed = false;
		this.#epoch = page.epoch;
		this.#resolver = new Resolver(page.source, page.path);
		this.#html = "";
		this.#events.onRestart();
		frame.open(this.#access.connect(frame));
		this.#append(page);
		if (page.live) return;
		if (scroll) void frame.ask("scroll", scroll);
		else if (this.#share !== null) void frame.ask("place", this.#share);
		if (this.#before !== null) frame.reveal(this.#before, this.#html);
		this.#before = null;
	}

	#advance(page: Page): void {
		if (this.#closed && !page.live) this.#revise(page);
		// Going back in a replay leaves less of the same stream.
		else if (this.#closed || page.epoch !== this.#epoch || page.text.length < this.#fed) this.reload("all");
		else this.#append(page);
	}

	#append(page: Page): void {
		const pending = page.text.slice(this.#fed);
		const end = page.live ? writable(pending) : pending.length;
		if (end > 0) this.#frame?.write(this.#resolver?.html(pending.slice(0, end)) ?? "");
		this.#fed += end;
		if (page.live) return;
		this.#frame?.close();
		this.#closed = true;
		this.#stamp = page.stamp;
		const whole = new Resolver(page.source, page.path);
		this.#html = whole.html(page.text);
		for (const path of whole.missing) {
			this.#events.onConsole({ level: "warn", text: `${path} is not among the files.` });
		}
		this.#put(null);
		// Files have arrived after the page needed them.
		if (this.#resolver?.missing.size !== whole.missing.size) this.reload("all");
	}

	/** Shows that a finished page, or a file it uses, has changed. */
	#revise(page: Page): void {
		if (page.stamp === this.#stamp) return;
		this.#stamp = page.stamp;
		const html = resolved(page);
		if (html === this.#html) return;
		const before = this.#html;
		this.#before = this.#reveals ? before : null;
		this.#html = html;
		this.#fed = page.text.length;
		this.#epoch = page.epoch;
		if (scripts(before) === scripts(html)) void this.#morph(before, html);
		else this.reload("all");
	}

	async #morph(before: string, html: string): Promise<void> {
		const morphed = await this.#frame?.morph({ from: before, to: html, reveal: this.#reveals });
		if (morphed === false) this.reload("all");
	}
}

/** The page with the files that it uses inlined. */
export function resolved(page: Page): string {
	return new Resolver(page.source, page.path).html(page.text);
}

/** The entry with the file and line that it comes from, if they are known: a line in an inline script is one of the page. */
function located(entry: ConsoleEntry, script: string | undefined, page: Page | null): ConsoleEntry {
	const { line, file, ...rest } = entry;
	if (!page || !line) return rest;
	if (file && page.source.read(file)) return { ...rest, line, file };
	const start = script && !file ? page.text.indexOf(script) : -1;
	if (start < 0) return rest;
	return { ...rest, line: page.text.slice(0, start).split("\n").length + line - 1, file: page.path };
}

export function scripts(html: string): string {
	// Matches a script that never ends, too, so that the search does not start again inside it.
	return (html.match(/<script\b[\s\S]*?(?:<\/script>|$)/gi) ?? []).join("\n");
}
