// Keeps a frame up to date with the newest page: writes it while it streams, morphs it when it is edited, and reloads it
// when its scripts have changed.

import type { Bound } from "../run/bound-messages.ts";
import type { SavedField } from "./fields.ts";
import { Frame, type FrameEvents } from "./frame.ts";
import type { ConsoleEntry, Loss, Scroll } from "./messages.ts";
import { Resolver, type Source, writable } from "./resolve.ts";
import type { Mode } from "./shell.ts";

/** Milliseconds until a removed hung frame is gone: a frame created sooner would share its process and hang too. */
const HUNG_FOR = 2500;

export interface Page {
	/** Identifies the page. */
	key: string;
	path: string;
	text: string;
	/** The stream that the text belongs to: while it is unchanged, the text only grows. Null for a finished text. */
	epoch: number | null;
	/** True while the text is streaming. */
	live: boolean;
	source: Source;
	/** Changes whenever a file changes. */
	stamp: string;
}

/** The state to keep when a page is loaded into a new frame; `all` includes the user's input. */
type Keep = "all" | "scroll" | "nothing";

/** A page's access to the network and the notebook. */
export interface Access {
	mode(): Mode;
	/** The notebook names that a frame's page is bound to; null if none. */
	connect(frame: Frame): Bound | null;
}

export interface FeedEvents extends Required<Pick<FrameEvents, "onLink" | "onSave" | "onScrolled">> {
	onConsole(entry: ConsoleEntry): void;
	/** A new page starts: all reports about the previous one are void. */
	onRestart(): void;
	/** There is something to see. */
	onShown(): void;
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
	/** The length of the text written to the frame, and its stream. */
	#fed = 0;
	#epoch: number | null = null;
	#closed = false;
	/** The user's input in the previous frame. */
	#savedFields: SavedField[] = [];
	#html = "";
	/** The last scroll position set from outside. */
	#share: number | null = null;
	/** The page before its last edit, until the edit has been shown. */
	#before: string | null = null;
	#stamp = "";
	/** The stamp of the page that had to be stopped; the next version is tried again. */
	#lost: string | null = null;
	/** The scroll position of the page when its frame was removed. */
	#scroll: Scroll | undefined;
	#hungUntil = 0;
	#later: ReturnType<typeof setTimeout> | undefined;

	/** With `reveals`, the page scrolls to each edit. */
	constructor(holder: HTMLElement, events: FeedEvents, access: Access, reveals = false) {
		this.#holder = holder;
		this.#events = events;
		this.#access = access;
		this.#reveals = reveals;
	}

	/** Creates a frame before there is a page: creating one takes longer than writing into it. */
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

	/** Loads the page into a new frame: nothing else resets the state that scripts leave in a window. */
	reload(keep: Keep = "scroll"): void {
		this.#lost = null;
		clearTimeout(this.#later);
		const wait = this.#hungUntil - performance.now();
		if (wait > 0) this.#later = setTimeout(() => this.reload(keep), wait);
		else if (this.#page) this.#replace(keep);
	}

	#replace(keep: Keep): void {
		if (keep !== "all") {
			this.#savedFields = [];
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
			...this.#events,
			onReady: () => {
				if (frame !== this.#frame) return;
				this.#ready = true;
				if (this.#page) this.#begin(scroll);
			},
			onShown: () => this.#uncover(frame),
			onConsole: (entry, script) => this.#events.onConsole(located(entry, script, this.#page)),
			onBlocked: (tag) => this.#events.onConsole({ level: "warn", text: `Blocked by the sandbox: ${tag}` }),
			onLost: (why) => this.lose(frame, why),
		};
		const frame: Frame = new Frame(handlers, this.#access.mode());
		this.#frame = frame;
		this.#ready = false;
		if (this.#old) frame.element.style.visibility = "hidden";
		this.#holder.append(frame.element);
	}

	/** Restores the user's input from the previous frame. */
	#put(fields: SavedField[] | null): void {
		if (fields) this.#savedFields = fields;
		if (this.#closed && this.#savedFields.length) void this.#frame?.ask("put", this.#savedFields);
	}

	/** Removes the frame, unless the user has interacted with the page: that state could not be restored. */
	rest(): void {
		if (!this.#frame || this.#frame.used) return;
		this.#scroll = this.#frame.scroll;
		this.dispose();
	}

	/** Runs our script in the page. */
	run(code: string, given: { port: MessagePort }): void {
		void this.#frame?.ask("run", { code, given });
	}

	scrollToShare(share: number): void {
		this.#share = share;
		void this.#frame?.ask("place", share);
	}

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
		// Going back in a replay shortens the text of the same stream.
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
		// Files have arrived after the page requested them.
		if (this.#resolver?.missing.size !== whole.missing.size) this.reload("all");
	}

	/** Updates a finished page after it, or a file it uses, has changed. */
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

/** Adds the file and line of a console entry, if known. Lines of inline scripts are converted to lines of the page. */
function located(entry: ConsoleEntry, script: string | undefined, page: Page | null): ConsoleEntry {
	const { line, file, ...rest } = entry;
	if (!page || !line) return rest;
	if (file && page.source.read(file)) return { ...rest, line, file };
	const start = script && !file ? page.text.indexOf(script) : -1;
	if (start < 0) return rest;
	return { ...rest, line: page.text.slice(0, start).split("\n").length + line - 1, file: page.path };
}

export function scripts(html: string): string {
	// Also matches an unterminated script, so that the search does not restart inside it.
	return (html.match(/<script\b[\s\S]*?(?:<\/script>|$)/gi) ?? []).join("\n");
}
