// Finds the outputs of runs on the page and mounts the live interface over them.
//
// An output is plain HTML whose outer element carries `data-anb-run`. It is the frozen form: a shadow root hides it
// without touching it, and gives it back when the interface goes. JupyterLab draws an output again inside the same
// node; the shadow root is on that node, so that the interface stays when the frozen result takes the first frame's
// place, with all that was scrolled to and typed.

import { claim, release } from "./claims.ts";
import type { RunEntry, Runs } from "./runs.ts";
import { adoptStyles } from "./styles.ts";
import { type Choices, copyChoices, newChoices } from "./ui.ts";
import { createApp } from "./view/app.ts";

const MARK = "data-anb-run";
/** On the output of a run under way: which run, because the same cell may be running in another notebook. */
const SESSION = "data-anb-session";
/** On the frozen result: how it came out, because another notebook may have run the same cell. */
const OUTCOME = "data-anb-outcome";
/** Lumino would take keys typed here for the notebook's shortcuts. */
const KEEP_KEYS = "data-lm-suppress-shortcuts";

interface Mount {
	run: RunEntry;
	/** The session it shows. */
	session: string;
	/** What carries the shadow root. */
	surface: Element;
	choices: Choices;
	abort: AbortController;
	/** Puts back the frames of the frozen form. */
	thaw: () => void;
}

export class Host {
	readonly #runs: Runs;
	readonly #mounts = new Map<Element, Mount>();
	/** Outputs whose run has not been heard of. */
	readonly #waiting = new Set<Element>();
	/** Views that were asked for before there was a run. */
	readonly #views = new Set<Element>();
	/** Sessions that have, or had, a place on the page. */
	readonly #placed = new Set<string>();
	/** Outputs whose run was followed by another: they stay as they are. */
	readonly #past = new WeakSet<Element>();
	/** What was chosen last in each run: an output that comes back goes on from it. */
	readonly #choices = new Map<string, Choices>();
	/** True once the kernel is gone: outputs that come now are another's. */
	gone = false;

	constructor(runs: Runs) {
		this.#runs = runs;
		runs.onRun = (run) => this.#onRun(run);
	}

	/** Mounts over every output that is there or comes, until `signal` is aborted. */
	watch(signal: AbortSignal): void {
		const observer = new MutationObserver((records) => this.#onMutations(records));
		observer.observe(document.documentElement, { childList: true, subtree: true });
		for (const element of document.querySelectorAll(`[${MARK}]`)) this.#found(element);
		signal.addEventListener("abort", () => {
			observer.disconnect();
			for (const element of [...this.#mounts.keys()]) this.unmount(element);
		});
	}

	/** Shows the newest run in a view, as soon as there is one. The view goes by `unmount` alone. */
	show(view: Element): void {
		const { latest } = this.#runs;
		if (latest) this.mount(view, latest);
		else this.#views.add(view);
	}

	mount(element: Element, run: RunEntry): void {
		const surface = surfaceOf(element);
		const [known, there] = this.#on(surface) ?? [];
		if (known && known !== element && there?.run === run) {
			this.#mounts.delete(known);
			this.#mounts.set(element, { ...there, thaw: takeFrames(element) });
			return;
		}
		if (known) this.unmount(known);
		const abort = new AbortController();
		const choices = this.#choicesOf(run.key);
		const app = this.#build(run, choices, abort);
		if (!app) return;
		const session = run.state?.id ?? "";
		this.#mounts.set(element, { run, session, surface, choices, abort, thaw: takeFrames(element) });
		run.hello();
		const root = surface.shadowRoot ?? surface.attachShadow({ mode: "open" });
		adoptStyles(root);
		root.replaceChildren(app);
		surface.setAttribute(KEEP_KEYS, "true");
	}

	/** The interface; null where this browser cannot draw it, so that the frozen form stays in sight. */
	#build(run: RunEntry, choices: Choices, abort: AbortController): HTMLElement | null {
		try {
			return createApp(run, choices, abort.signal);
		} catch (error) {
			abort.abort();
			console.error("agent_nb could not draw a run:", error);
			return null;
		}
	}

	unmount(element: Element): void {
		this.#views.delete(element);
		const mount = this.#mounts.get(element);
		if (!mount) return;
		mount.abort.abort();
		this.#mounts.delete(element);
		this.#choices.set(mount.run.key, mount.choices);
		release(element, this);
		mount.surface.shadowRoot?.replaceChildren(document.createElement("slot"));
		mount.surface.removeAttribute(KEEP_KEYS);
		mount.thaw();
	}

	#on(surface: Element): [Element, Mount] | undefined {
		return [...this.#mounts].find(([, mount]) => mount.surface === surface);
	}

	/** The kernel is gone: runs it was busy with show their frozen form, unless they are heard of again. */
	suspend(): void {
		this.gone = true;
		for (const [element, { run }] of [...this.#mounts]) {
			if (!run.busy) continue;
			this.unmount(element);
			this.#waiting.add(element);
		}
	}

	/** The choices made last; a copy of them where another view of the run goes on with them. */
	#choicesOf(key: string): Choices {
		const mounts = [...this.#mounts].filter(([, { run }]) => run.key === key);
		const leaving = mounts.find(([element]) => hasLeft(element))?.[1];
		const last = leaving?.choices ?? this.#choices.get(key);
		const taken = mounts.some(([, mount]) => mount !== leaving && mount.choices === last);
		const choices = last && taken ? copyChoices(last) : (last ?? newChoices());
		this.#choices.set(key, choices);
		return choices;
	}

	#onMutations(records: readonly MutationRecord[]): void {
		let removed = false;
		for (const record of records) {
			removed ||= record.removedNodes.length > 0;
			for (const node of record.addedNodes) {
				if (!(node instanceof Element)) continue;
				if (node.hasAttribute(MARK)) this.#found(node);
				for (const element of node.querySelectorAll(`[${MARK}]`)) this.#found(element);
			}
		}
		if (!removed) return;
		for (const element of [...this.#mounts.keys()]) if (hasLeft(element)) this.unmount(element);
		for (const element of this.#waiting) if (!element.isConnected) this.#waiting.delete(element);
	}

	#found(element: Element): void {
		if (!element.isConnected || this.#mounts.has(element)) return;
		const run = this.#runs.get(element.getAttribute(MARK) ?? "");
		run.hello();
		if (!run.state || !this.#offer(element, run, !this.#placed.has(run.state.id))) this.#waiting.add(element);
	}

	#onRun(run: RunEntry): void {
		this.gone = false;
		this.#leave(run);
		if (run.state) for (const view of this.#views) this.mount(view, run);
		if (run.state) this.#views.clear();
		for (const element of this.#waiting) {
			if (element.getAttribute(MARK) === run.key && element.isConnected) this.#offer(element, run, false);
		}
	}

	/** The same cell was run again, maybe a copy of it: an output of the run before is not the new one's. */
	#leave(run: RunEntry): void {
		const session = run.state?.id ?? "";
		for (const [element, mount] of [...this.#mounts]) {
			if (mount.run !== run || mount.session === session) continue;
			mount.session = session;
			if (shows(element, run)) {
				run.hello();
				continue;
			}
			this.unmount(element);
			this.#past.add(element);
			this.#waiting.add(element);
		}
	}

	/** Whether this is the result that takes the place of its run's first frame; what came out may be told later. */
	#follows(element: Element, run: RunEntry): boolean {
		const [before, mount] = this.#on(surfaceOf(element)) ?? [];
		const session = before?.getAttribute(SESSION);
		return run.digest === null && mount?.run === run && session === run.state?.id;
	}

	/**
	 * Whether this is an older result of the same cell, saved before it was run again: after a reload the new run has
	 * no other place. It may be another notebook's where there are several.
	 */
	#precedes(element: Element, run: RunEntry): boolean {
		const session = element.getAttribute(SESSION);
		if (session || this.#past.has(element) || this.#placed.has(run.state?.id ?? "")) return false;
		const alike = [...document.querySelectorAll(`[${MARK}]`)].filter(
			(one) => one.getAttribute(MARK) === run.key,
		);
		return document.querySelectorAll(".jp-Notebook").length < 2 && !alike.some((one) => shows(one, run));
	}

	#offer(element: Element, run: RunEntry, takeOver: boolean): boolean {
		const session = element.getAttribute(SESSION);
		if (!shows(element, run) && !this.#follows(element, run) && !this.#precedes(element, run)) return false;
		if (this.gone || !claim(element, this, run.since, takeOver || Boolean(session))) return false;
		this.#placed.add(run.state?.id ?? "");
		this.#waiting.delete(element);
		this.mount(element, run);
		return true;
	}
}

/** JupyterLab's node around an output that is alone in it; elsewhere the output itself. */
function surfaceOf(element: Element): Element {
	const around = element.hasAttribute(MARK) ? element.closest("div.jp-RenderedHTML") : null;
	return around?.querySelectorAll(`[${MARK}]`).length === 1 ? around : element;
}

/** Whether an output is no longer on the page. A view may be filled before it is put there, and goes by itself. */
function hasLeft(element: Element): boolean {
	return !element.isConnected && element.hasAttribute(MARK);
}

/** Whether an output is of that very run, as far as it says. */
function shows(element: Element, run: RunEntry): boolean {
	const [session, outcome] = [element.getAttribute(SESSION), element.getAttribute(OUTCOME)];
	return (!session || session === run.state?.id) && (!outcome || outcome === run.digest);
}

/**
 * Takes the frozen form's frames off the page, and gives what puts them back. A browser runs the page in them even
 * where nothing of it is drawn, beside the live preview; and one that hangs there would hang the previews with it.
 */
function takeFrames(element: Element): () => void {
	const taken = [...element.querySelectorAll("iframe")].map((frame) => {
		const place = document.createComment("");
		frame.replaceWith(place);
		return { frame, place };
	});
	return () => {
		for (const { frame, place } of taken) place.replaceWith(frame);
	};
}
