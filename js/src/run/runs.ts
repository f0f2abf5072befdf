// All runs on this page, whether on screen or not: batches in, states out.

import { labExtension, type NotebookContext } from "./cells.ts";
import type { Meta, RunFinished } from "./events.ts";
import type { Written } from "./lab.ts";
import { PageLink } from "./page-link.ts";
import {
	type Batch,
	type CheckMessage,
	type CommandName,
	type FromKernel,
	KernelLink,
	type LostRun,
	type NotebookMessage,
	type Send,
} from "./protocol.ts";
import { type Question, questionsOf } from "./questions.ts";
import { type RunChange, type RunState, runAfter } from "./run-state.ts";
import type { VariantState } from "./state.ts";
import { Tape } from "./tape.ts";

/** Finished runs without an output whose events stay cached: their outputs may be scrolled to again. */
const MOST_CLOSED = 20;
/** Ids of replaced runs to remember for each key. */
const MOST_PAST = 20;

/** An element of a page. */
export interface ElementPath {
	path: string;
	file: string;
}

/** One press of Accept or Refuse in the tab "Notebook". */
export interface Press {
	readonly changes: readonly string[];
	readonly written: readonly Written[];
}

/** A file as the kernel sends it: text, or bytes in base64. */
export type Content = { media_type: string | null } & ({ text: string } | { base64: string });

/** The newest run of a key, and its listeners. */
export class RunEntry {
	#state: RunState | null = null;
	/** When the first batch of the run arrived here. */
	since = 0;
	/** The released run, until its events arrive again. */
	#released = "";
	/** Number of files loaded; pages that use them are redrawn. */
	loads = 0;
	/** Called after a view of the run is drawn, with the selected elements of its page. */
	onDraw: (state: RunState, selection: readonly ElementPath[]) => void = () => {};
	/** The values of bound names, by variant, for a page without a kernel. */
	saved: readonly Record<string, string>[] = [];
	/** The element that shows it; null while it is not on the page. */
	surface: Element | null = null;
	/** Presses of Accept and Refuse in this window, for Undo. */
	readonly presses: Press[] = [];
	/** Changes of cells that could not be written, because the cell had changed. */
	readonly stale = new Set<string>();
	/** The view that reports the page's console, if several views show the run. */
	reporter: object | null = null;
	readonly #link: KernelLink;
	readonly #listeners = new Set<() => void>();
	readonly #contents = new Map<string, Content | null>();
	/** The connections of bound pages. */
	readonly #bound = new Map<string, PageLink>();
	/** The events of each variant, for replay. */
	readonly #tapes = new Map<number, Tape>();
	/** Replaced runs of this key; one may still be running in the background. */
	readonly #past = new Set<string>();
	/** The run that the kernel's last answer to `hello` named. */
	#greeted: string | null = null;
	/** Whether the run is on screen, as last reported to the kernel, which assumes true. */
	#onScreen = true;
	#asking = false;
	#resyncing = false;

	constructor(
		readonly key: string,
		link: KernelLink,
		/** The notebook for inserting cells; null if the front end gives no access to it. */
		readonly notebook: NotebookContext | null = null,
		/** The names of all runs on the page. */
		readonly names: () => Iterable<string> = () => [],
		/** All runs of this kernel, including this one. */
		readonly others: () => Iterable<RunEntry> = () => [],
	) {
		this.#link = link;
	}

	get state(): RunState | null {
		return this.#state;
	}

	/** Whether a kernel has answered for this run. */
	get greeted(): boolean {
		return this.#greeted !== null;
	}

	/** Its open questions, oldest first. */
	get questions(): Question[] {
		return questionsOf([...(this.state?.variants ?? [])].map(([number, state]) => ({ number, state })));
	}

	get busy(): boolean {
		return [...(this.state?.variants.values() ?? [])].some((variant) => variant.busy);
	}

	/** The id of the run that it continues. */
	get base(): string | null {
		const [first] = this.tape(0).events;
		return first?.type === "run_started" ? first.base : null;
	}

	/** The newest run; null if it is this one. */
	get newer(): Meta | null {
		const metas = [...this.others()].map((run) => run.state?.meta).filter((meta) => meta !== undefined);
		const newest = metas.toSorted((a, b) => a.number - b.number).at(-1);
		return newest && newest.number > (this.state?.meta.number ?? 0) ? newest : null;
	}

	/** The digest in its saved output; null until the run has ended. */
	get digest(): string | null {
		return this.state?.ready?.digest ?? this.state?.meta.digest ?? null;
	}

	subscribe(listener: () => void, signal: AbortSignal): void {
		this.#listeners.add(listener);
		signal.addEventListener("abort", () => this.#listeners.delete(listener), { once: true });
	}

	tape(variant: number): Tape {
		const tape = this.#tapes.get(variant) ?? new Tape();
		this.#tapes.set(variant, tape);
		return tape;
	}

	/**
	 * Requests this run from the kernel, once per run. It also signals that a user is there to answer questions. Batches
	 * follow the answer.
	 */
	hello(): void {
		const id = this.state?.id ?? this.#greeted;
		if (this.#asking || (id !== null && id === this.#greeted)) return;
		this.#asking = true;
		void this.#link.command("hello", { key: this.key }).then((answer) => {
			this.#asking = false;
			if (answer.ok) this.#link.window = Number(answer.window);
			if (answer.ok) this.#greet(String(answer.run_id), answer.meta as Meta | undefined);
		});
	}

	/** Handles the kernel's newest run of this key. If the page shows another run, that run is older and still active. */
	#greet(id: string, meta: Meta | undefined): void {
		this.#greeted = id;
		this.#past.delete(id);
		if (this.state && this.state.id !== id) this.#forsake(this.state.id);
		else if (meta) this.change({ kind: "greeted", meta });
		else this.redraw();
	}

	command(name: Exclude<CommandName, "hello" | "resync">, fields: Record<string, unknown> = {}) {
		return this.#link.command(name, { run_id: this.state?.id ?? "", ...fields });
	}

	/** Reports to the kernel whether an active run is on screen: off-screen runs are sent less often. */
	setOnScreen(on_screen: boolean): void {
		if (!this.state || this.state.ready || this.state.lost || on_screen === this.#onScreen) return;
		this.#onScreen = on_screen;
		void this.command("on_screen", { on_screen });
	}

	/** The connection between a variant's page and the notebook; null if the page is not bound. */
	link(variant: number): PageLink | null {
		const { id, meta } = this.state ?? {};
		if (!meta?.connected) return null;
		const key = `${id} ${variant}`;
		const existing = this.#bound.get(key);
		if (existing) return existing;
		const link: PageLink = new PageLink(meta.bound, (message) => {
			void this.command("bound", { variant, message }).then((answer) => answer.ok || link.lose(answer.error));
		});
		link.onCalled = () => this.redraw();
		this.#bound.set(key, link);
		if (this.state?.lost) link.lose(notConnected(this.state.lost));
		return link;
	}

	async file(variant: number, path: string, version: number): Promise<Content | null> {
		const answer = await this.command("file", { variant, path, version });
		if (!answer.ok) return null;
		const media_type = typeof answer.media_type === "string" ? answer.media_type : null;
		if (typeof answer.text === "string") return { media_type, text: answer.text };
		return { media_type, base64: String(answer.base64 ?? "") };
	}

	/** A file's content, or null until it is loaded. Each version is loaded once, and listeners are notified. */
	content(variant: number, path: string, version: number): Content | null {
		const key = `${this.state?.id} ${variant} ${version} ${path}`;
		const cached = this.#contents.get(key);
		if (cached !== undefined) return cached;
		this.#contents.set(key, null);
		void this.file(variant, path, version).then((content) => {
			this.#contents.set(key, content);
			this.loads++;
			this.redraw();
		});
		return null;
	}

	/** Applies a batch. One that starts with the first event replaces the run; after a gap, all events are requested. */
	receive(batch: Batch): void {
		if (this.#past.has(batch.run_id)) return;
		const same = this.state?.id === batch.run_id ? this.state : null;
		if (same && batch.last <= same.have) {
			if (batch.meta) this.change({ kind: "greeted", meta: batch.meta });
			return;
		}
		const meta = batch.meta ?? same?.meta;
		// Some events are not in the batch, so it is never applied from its middle.
		if (!meta || (batch.first !== 1 && batch.first !== (same?.have ?? 0) + 1)) {
			this.#resync(batch.run_id);
			return;
		}
		this.#resyncing = false;
		if (!same) this.#replaceRun(batch.run_id);
		if (batch.first === 1) this.#tapes.clear();
		for (const [index, event] of batch.events.entries()) {
			// Events that are not for the page leave gaps in these numbers, but the order is preserved.
			event.seq = batch.first + index;
			event.variant ??= 0;
			this.tape(event.variant).push(event);
		}
		this.change({ ...batch, meta });
	}

	#replaceRun(id: string): void {
		if (this.state) this.#forsake(this.state.id);
		this.#contents.clear();
		this.#bound.clear();
		this.presses.length = 0;
		this.stale.clear();
		this.#onScreen = true;
		if (id !== this.#released) this.since = performance.timeOrigin + performance.now();
		this.#released = "";
	}

	#forsake(id: string): void {
		this.#past.add(id);
		const [oldest] = this.#past;
		if (oldest !== undefined && this.#past.size > MOST_PAST) this.#past.delete(oldest);
	}

	/** Whether the kernel has the run and a saved output can show it in the meantime. */
	get canRelease(): boolean {
		return Boolean(this.state?.ready && !this.state.lost && !this.busy);
	}

	/** Drops the run's events: `hello` asks the kernel for them again. */
	release(): void {
		this.#released = this.state?.id ?? "";
		this.#greeted = null;
		this.#tapes.clear();
		this.#contents.clear();
		this.change({ kind: "released" });
	}

	/** Marks the kernel as gone: the run stays visible, and commands fail. */
	lose(why: string): void {
		// A kernel that is shut down interrupts its runs, and may still report that.
		const isCut = ({ busy, reason }: VariantState): boolean =>
			busy || (reason === "interrupted" && !this.state?.ready);
		const cut = [...(this.state?.variants ?? [])].filter(([, state]) => isCut(state));
		const endings = cut.map(([variant, state]) => endingOf(state, variant));
		for (const ending of endings) this.tape(ending.variant).push(ending);
		for (const link of this.#bound.values()) link.lose(notConnected(why));
		this.change({ kind: "lost", why, endings });
	}

	/** Assigns the next state. */
	change(change: RunChange): void {
		this.#state = runAfter(this.#state, change);
		this.redraw();
	}

	redraw(): void {
		for (const listener of this.#listeners) listener();
	}

	#resync(run_id: string): void {
		if (this.#resyncing) return;
		this.#resyncing = true;
		void this.#link.command("resync", { run_id }).then(() => {
			this.#resyncing = false;
		});
	}
}

/** The last event of a variant whose kernel is gone. */
export function endingOf({ at, usage, cost }: VariantState, variant: number): RunFinished {
	const nothing = { run_id: "", seq: 0, error: null, answer: null, values: {}, other_models: [] };
	return { ...nothing, type: "run_finished", variant, at, seconds: at, reason: "stopped", usage, cost };
}

function notConnected(why: string): string {
	return `The page is not connected: ${why}. Run its cell again.`;
}

/** The runs of one kernel. */
export class Runs {
	readonly #link: KernelLink;
	readonly #byKey = new Map<string, RunEntry>();
	readonly #byId = new Map<string, RunEntry>();
	readonly #names = new Set<string>();
	/** Runs that began before this page was loaded, as requested from the kernel. */
	readonly #asked = new Set<string>();
	/** True once the kernel is gone. */
	gone = false;
	/** The run of the newest batch, for widget views. */
	latest: RunEntry | null = null;
	/** Called with every run that has changed. */
	onRun: (run: RunEntry) => void = () => {};
	/** Called when this window has to check a page. */
	onCheck: (run: RunEntry, message: CheckMessage) => void = () => {};

	constructor(
		send: Send,
		readonly notebook: NotebookContext | null = null,
	) {
		this.#link = new KernelLink(send);
	}

	get(key: string): RunEntry {
		const existing = this.#byKey.get(key);
		if (existing) return existing;
		const [names, all] = [() => this.#names, () => this.#byKey.values()];
		const run = new RunEntry(key, this.#link, this.notebook, names, all);
		this.#byKey.set(key, run);
		return run;
	}

	/** Number of active runs. */
	get busy(): number {
		return [...this.#byKey.values()].filter((run) => run.busy).length;
	}

	/** The runs with open questions. */
	get waiting(): RunEntry[] {
		return [...this.#byKey.values()].filter((run) => run.questions.length > 0);
	}

	stop(): void {
		for (const run of this.#byKey.values()) if (run.busy) void run.command("stop");
	}

	/** Handles a closed output. Of the finished runs without an output, only the last ones stay cached. */
	close(run: RunEntry, isShown: (run: RunEntry) => boolean): void {
		this.#byKey.delete(run.key);
		this.#byKey.set(run.key, run);
		const closed = [...this.#byKey.values()].filter((entry) => entry.canRelease && !isShown(entry));
		for (const entry of closed.slice(0, -MOST_CLOSED)) entry.release();
	}

	readonly receive = (message: FromKernel): void => {
		if (this.gone) return; // a restart lets the old kernel send on for a moment
		if (message.kind === "answer") this.#link.receive(message);
		else if (message.kind === "notebook") this.#readCells(message);
		else this.#route(message);
	};

	/** Answers with cells of the notebook, unless the message is about another one. */
	#readCells({ request_id, own, only }: NotebookMessage): void {
		const lab = labExtension();
		if (!lab || !this.notebook) {
			const error = "this page has no access to the notebook's cells";
			void this.#link.command("notebook", { request_id, error });
			return;
		}
		const read = lab.readCells(this.notebook, own, only);
		if (read) void this.#link.command("notebook", { request_id, ...read });
	}

	#route(message: Exclude<FromKernel, { kind: "answer" | "notebook" }>): void {
		if (message.kind === "batch" && message.meta) {
			this.#byId.set(message.run_id, this.get(message.meta.key));
			this.#names.add(message.meta.name);
		}
		const run = this.#byId.get(message.run_id);
		if (!run) {
			this.#ask(message.run_id);
			return;
		}
		switch (message.kind) {
			case "check":
				if (message.window === this.#link.window) this.onCheck(run, message);
				return;
			case "bound":
				run.link(message.variant)?.receive(message.message);
				return;
			case "batch":
				run.receive(message);
				this.latest = run;
				// Other runs may link to it, or fold.
				if (message.first === 1) for (const other of this.#byKey.values()) other.redraw();
				break;
			case "ready":
			case "running_code":
				run.change(message);
		}
		if (run.state) this.onRun(run);
	}

	/** Requests the runs that this window had before it was reloaded. */
	async lost(): Promise<LostRun[]> {
		const answer = await this.#link.command("under_way");
		return answer.ok ? (answer.runs as LostRun[]) : [];
	}

	lose(why: string): void {
		this.gone = true;
		for (const run of this.#byKey.values()) run.lose(why);
	}

	#ask(run_id: string): void {
		if (this.#asked.has(run_id)) return;
		this.#asked.add(run_id);
		void this.#link.command("resync", { run_id });
	}
}
