// Finds the outputs of runs on the page and mounts the live interface over them.
//
// An output is plain HTML whose outer element carries `data-anb-run`. Its children are the frozen form: a shadow
// root hides them without touching them, and gives them back when the interface goes.

import { claim, release } from "./claims.ts";
import type { RunEntry, Store } from "./store.ts";
import { adoptStyles } from "./styles.ts";
import { type Choices, newChoices } from "./ui.ts";
import { createApp } from "./view/app.ts";

const MARK = "data-anb-run";
/** On the output of a run under way: which run, because the same cell may be running in another notebook. */
const SESSION = "data-anb-session";
/** Lumino would take keys typed here for the notebook's shortcuts. */
const KEEP_KEYS = "data-lm-suppress-shortcuts";

interface Mount {
	run: RunEntry;
	abort: AbortController;
	/** Puts back the frames of the frozen form. */
	thaw: () => void;
}

export class Host {
	readonly #store: Store;
	readonly #mounts = new Map<Element, Mount>();
	/** Outputs whose run has not been heard of. */
	readonly #waiting = new Set<Element>();
	/** Sessions that have, or had, a place on the page. */
	readonly #placed = new Set<string>();
	readonly #choices = new Map<string, Choices>();
	/** True once the kernel is gone: outputs that come now are another's. */
	gone = false;

	constructor(store: Store) {
		this.#store = store;
		store.onRun = (run) => this.#onRun(run);
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

	mount(element: Element, run: RunEntry): void {
		this.unmount(element);
		const abort = new AbortController();
		this.#mounts.set(element, { run, abort, thaw: takeFrames(element) });
		const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
		adoptStyles(root);
		root.replaceChildren(createApp(run, this.#choicesOf(run.key), abort.signal));
		element.setAttribute(KEEP_KEYS, "true");
	}

	unmount(element: Element): void {
		const mount = this.#mounts.get(element);
		if (!mount) return;
		mount.abort.abort();
		this.#mounts.delete(element);
		release(element, this);
		element.shadowRoot?.replaceChildren(document.createElement("slot"));
		element.removeAttribute(KEEP_KEYS);
		mount.thaw();
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

	#choicesOf(key: string): Choices {
		const known = this.#choices.get(key) ?? newChoices();
		this.#choices.set(key, known);
		return known;
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
		for (const element of [...this.#mounts.keys()]) if (!element.isConnected) this.unmount(element);
		for (const element of this.#waiting) if (!element.isConnected) this.#waiting.delete(element);
	}

	#found(element: Element): void {
		if (!element.isConnected || this.#mounts.has(element)) return;
		const run = this.#store.run(element.getAttribute(MARK) ?? "");
		run.hello();
		if (!run.state || !this.#offer(element, run, !this.#placed.has(run.state.session)))
			this.#waiting.add(element);
	}

	#onRun(run: RunEntry): void {
		this.gone = false;
		for (const element of this.#waiting) {
			if (element.getAttribute(MARK) === run.key && element.isConnected) this.#offer(element, run, false);
		}
	}

	#offer(element: Element, run: RunEntry, takeOver: boolean): boolean {
		const session = element.getAttribute(SESSION);
		if (session && session !== run.state?.session) return false;
		if (this.gone || !claim(element, this, run.since, takeOver || Boolean(session))) return false;
		this.#placed.add(run.state?.session ?? "");
		this.#waiting.delete(element);
		this.mount(element, run);
		return true;
	}
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
