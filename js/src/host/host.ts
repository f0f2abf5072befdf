// Finds the outputs of runs on the page and mounts the live interface over them.
//
// An output is plain HTML, the frozen form; its outer element has `data-anb-run`. A shadow root hides it without
// changing it, and reveals it when the interface is unmounted. JupyterLab redraws an output inside the same node.
// The shadow root is on that node, so the interface keeps its scroll positions and inputs when the frozen result
// replaces the first frame.

import { showWhole, watchScrolling } from "../base/into-view.ts";
import { watchKeys } from "../base/keys.ts";
import { FEATURES } from "../features/index.ts";
import { type CellOutput, labExtension, type NotebookContext } from "../run/cells.ts";
import { LIVE, STAGE_CLASS, STAGED, STOP_ALL } from "../run/lab.ts";
import type { LostRun } from "../run/protocol.ts";
import { questionKey } from "../run/questions.ts";
import type { RunEntry, Runs } from "../run/runs.ts";
import { type Choices, copyChoices, newChoices, resetRun } from "../view/choices.ts";
import { createSight, type Sight } from "../view/shared/on-screen.ts";
import { createApp } from "../view/shell/app.ts";
import { claim, release } from "./claims.ts";
import { guardSavedPages, keepFarFramesOut } from "./far-frames.ts";
import { adoptStyles } from "./styles.ts";

const KEY = "data-anb-run";
/** The run's digest, on the frozen result: another notebook may have run the same cell. */
const DIGEST = "data-anb-outcome";
/** On a surface that fills the panel of a separate view beside the notebook. */
const FILLS = "data-anb-fills";
/** Number of outputs above which drawing their pages slows down scrolling. */
const LONG = 12;

interface Mount {
	run: RunEntry;
	/** The id of the mounted run. */
	id: string;
	/** The element that has the shadow root. */
	surface: Element;
	choices: Choices;
	abort: AbortController;
	/** Puts the frames of the frozen form back. */
	restoreFrames: () => void;
}

export class Host {
	readonly #runs: Runs;
	readonly #mounts = new Map<Element, Mount>();
	/** Outputs whose run has not arrived yet. */
	readonly #waiting = new Set<Element>();
	/** Widget views that were opened before there was a run. */
	readonly #views = new Set<Element>();
	/** Ids of runs that are or were mounted. */
	readonly #placed = new Set<string>();
	/** Outputs whose run was replaced by a newer one; they stay frozen. */
	readonly #past = new WeakSet<Element>();
	/** The last choices for each key and the run they were made in, for an output that comes back. */
	readonly #choices = new Map<string, Pick<Mount, "id" | "choices">>();
	/** The mounted outputs that are on screen. */
	#sight: Sight | null = null;
	#signal: AbortSignal | null = null;
	/** Number of outputs seen so far. */
	#found = 0;
	#isLong = false;
	/** The active runs, as last reported to JupyterLab. */
	#told = "0";
	/** The key of a run whose question takes the focus when it is on the page. */
	#toAnswer = "";

	constructor(runs: Runs) {
		this.#runs = runs;
		runs.onRun = (run) => this.#onRun(run);
	}

	/** Whether the kernel is gone: outputs that appear now belong to another kernel. */
	get gone(): boolean {
		return this.#runs.gone;
	}

	/** Mounts over all present and future outputs until `signal` is aborted. */
	watch(signal: AbortSignal): void {
		const observer = new MutationObserver((records) => this.#onMutations(records));
		observer.observe(document.documentElement, { childList: true, subtree: true });
		watchScrolling(signal);
		guardSavedPages(signal);
		window.addEventListener(STOP_ALL, () => this.#runs.stop(), { signal });
		window.addEventListener(STAGED, () => this.#onStaged(), { signal });
		this.#signal = signal;
		const all = () => [...this.#mounts.values()].map(({ run }) => run);
		this.#sight = createSight(() => this.#tellSeen(...all()), signal);
		showTitles(document.documentElement);
		for (const element of document.querySelectorAll(`[${KEY}]`)) this.#onOutput(element);
		signal.addEventListener("abort", () => {
			observer.disconnect();
			this.#tellBusy();
			for (const element of [...this.#mounts.keys()]) this.unmount(element);
		});
	}

	/** Restores the active runs that this window had before a reload, if their cells still exist. */
	async restore(): Promise<void> {
		for (const lost of await this.#runs.lost()) restoreFirstFrame(this.#runs.notebook, lost);
	}

	/** Shows a run, or else the newest, in a widget view, as soon as there is one, until `unmount` is called with it. */
	show(view: Element, key?: string): void {
		const run = key ? this.#runs.get(key) : this.#runs.latest;
		if (run?.state) this.#showIn(view, run);
		else this.#views.add(view);
		run?.hello();
	}

	/** Mounts the run in a view, unless the document has an output of the run outside of the view. */
	#showIn(view: Element, run: RunEntry): void {
		if (outputsOf(run).every((output) => view.contains(output))) this.mount(view, run);
	}

	mount(element: Element, run: RunEntry): void {
		const surface = surfaceOf(element);
		const [previous, mounted] = this.#mountOn(surface) ?? [];
		if (previous && previous !== element && mounted?.run === run) {
			this.#mounts.delete(previous);
			this.#mounts.set(element, { ...mounted, restoreFrames: removeFrames(element) });
			return;
		}
		if (previous) this.unmount(previous);
		const abort = new AbortController();
		const choices = this.#choicesOf(run);
		this.#setStage(choices, run, surface);
		const app = this.#build(run, choices, abort);
		if (!app) return;
		const id = run.state?.id ?? "";
		this.#mounts.set(element, { run, id, surface, choices, abort, restoreFrames: removeFrames(element) });
		run.hello();
		const root = surface.shadowRoot ?? surface.attachShadow({ mode: "open" });
		adoptStyles(root);
		root.replaceChildren(app);
		surface.setAttribute(LIVE, "");
		if (choices.stage !== "here") run.surface ??= surface;
		surface.toggleAttribute(FILLS, surface.closest(".jp-LinkedOutputView") !== null);
		watchKeys(surface, abort.signal);
		this.#sight?.watch(surface);
		// The observer does not report again what it has seen already.
		if (this.#sight?.has(surface)) this.#tellSeen(run);
		if (run.key === this.#toAnswer) this.#answer(run);
	}

	/** On the stage, the result is shown alone until the user asks for the transcript. */
	#setStage(choices: Choices, run: RunEntry, surface: Element): void {
		const stage = labExtension()?.stage(this.#runs.notebook);
		const isHere = stage?.contains(surface);
		if (isHere && choices.stage !== "here") choices.alone = true;
		choices.stage = stage ? (isHere ? "here" : stage.key === run.key ? "shown" : "open") : null;
	}

	#onStaged(): void {
		for (const { run, choices, surface } of this.#mounts.values()) {
			this.#setStage(choices, run, surface);
			run.redraw();
		}
	}

	#tellSeen(...runs: RunEntry[]): void {
		for (const run of new Set(runs))
			run.setOnScreen(this.#mountsOf(run).some(({ surface }) => this.#sight?.has(surface)));
	}

	/** Builds the interface; null if this browser cannot, so that the frozen form stays visible. */
	#build(run: RunEntry, choices: Choices, abort: AbortController): HTMLElement | null {
		try {
			return createApp({ run, features: FEATURES, choices, signal: abort.signal });
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
		this.#choices.set(mount.run.key, { id: mount.id, choices: mount.choices });
		if (mount.run.surface === mount.surface) mount.run.surface = null;
		release(element, this);
		this.#tellSeen(mount.run);
		mount.surface.shadowRoot?.replaceChildren(document.createElement("slot"));
		mount.surface.removeAttribute(LIVE);
		mount.restoreFrames();
	}

	#mountOn(surface: Element): [Element, Mount] | undefined {
		return [...this.#mounts].find(([, mount]) => mount.surface === surface);
	}

	/** Marks the kernel as gone. Its runs stay on the page as they are. */
	lose(why: string): void {
		this.#runs.lose(why);
		this.#tellBusy();
	}

	/**
	 * The last choices for a run, copied if another view of the run still uses them. They are reset if the cell was run
	 * again.
	 */
	#choicesOf(run: RunEntry): Choices {
		const id = run.state?.id ?? "";
		const mounts = [...this.#mounts].filter(([, mount]) => mount.run === run);
		const leaving = mounts.find(([element]) => hasLeft(element))?.[1];
		const last = leaving ?? this.#choices.get(run.key);
		const shared = mounts.some(([, mount]) => mount !== leaving && mount.choices === last?.choices);
		const choices = last && shared ? copyChoices(last.choices) : (last?.choices ?? newChoices());
		if (last && last.id !== id) resetRun(choices);
		this.#choices.set(run.key, { id, choices });
		return choices;
	}

	#onMutations(records: readonly MutationRecord[]): void {
		for (const { addedNodes } of records) {
			for (const node of addedNodes) {
				showTitles(node);
				for (const element of outputsIn(node)) this.#onOutput(element);
			}
		}
		if (records.some(({ removedNodes }) => removedNodes.length > 0)) this.#onRemoval();
	}

	#onRemoval(): void {
		for (const [element, { run }] of [...this.#mounts]) {
			if (!hasLeft(element)) continue;
			this.unmount(element);
			this.#runs.close(run, (other) => this.#mountsOf(other).length > 0);
		}
		for (const element of this.#waiting) if (!element.isConnected) this.#waiting.delete(element);
	}

	#onOutput(element: Element): void {
		if (!element.isConnected || this.#mounts.has(element) || this.#isElsewhere(element)) return;
		this.#found += 1;
		const run = this.#runs.get(element.getAttribute(KEY) ?? "");
		run.hello();
		if (!run.state || !this.#tryMount(element, run, !this.#placed.has(run.state.id)))
			this.#waiting.add(element);
		this.#checkLength();
	}

	/** Whether an output is on the stage of another notebook, which may have run the same cell. */
	#isElsewhere(element: Element): boolean {
		const stage = labExtension()?.stage(this.#runs.notebook);
		return element.closest(`.${STAGE_CLASS}`) !== null && !stage?.contains(element);
	}

	/** Starts unloading distant pages once the notebook is long and has a run. */
	#checkLength(): void {
		if (!this.#signal || this.#isLong || this.#found < LONG || !this.#runs.latest?.state) return;
		this.#isLong = true;
		keepFarFramesOut(this.#signal);
	}

	/** Reports the active runs to JupyterLab if they have changed. */
	#tellBusy(): void {
		const { busy, waiting, notebook } = this.#runs;
		const isOver = this.gone || this.#signal?.aborted;
		const told = isOver
			? "0"
			: [busy, ...waiting.map(({ key, questions }) => `${key}:${questions.length}`)].join(" ");
		if (told === this.#told) return;
		this.#told = told;
		const runs = waiting.map((run) => ({
			key: run.key,
			notebook,
			questions: run.questions.length,
			hasFocus: () =>
				this.#mountsOf(run).some(({ surface }) =>
					surface.shadowRoot?.activeElement?.closest(".anb-card.ask"),
				),
			answer: () => this.#answer(run),
		}));
		labExtension()?.setRuns(this, isOver ? 0 : busy, isOver ? [] : runs);
	}

	#mountsOf(run: RunEntry): Mount[] {
		return [...this.#mounts.values()].filter((mount) => mount.run === run);
	}

	/** Moves the focus to the first question of a run. While the run is on the stage, its cell is folded. */
	#answer(run: RunEntry): void {
		const [question] = run.questions;
		const views = this.#mountsOf(run).filter(({ choices }) => choices.stage !== "shown");
		this.#toAnswer = question && !views.length ? run.key : "";
		if (!question) return;
		const { variant } = question;
		const choice = { question: questionKey(question), variant, arrangement: "one" };
		for (const { choices } of views) Object.assign(choices, choice);
		run.redraw();
	}

	#onRun(run: RunEntry): void {
		this.#tellBusy();
		this.#checkLength();
		this.#unmountPrevious(run);
		if (run.state) for (const view of this.#views) this.#showIn(view, run);
		if (run.state) this.#views.clear();
		for (const element of this.#waiting) {
			if (element.getAttribute(KEY) === run.key && element.isConnected) this.#tryMount(element, run, false);
		}
		void replaceFirstFrames(run);
	}

	/** If the cell, or a copy of it, was run again, unmounts the outputs of the previous run. */
	#unmountPrevious(run: RunEntry): void {
		const id = run.state?.id ?? "";
		for (const [element, mount] of [...this.#mounts]) {
			if (mount.run !== run || mount.id === id) continue;
			if (shows(element, run)) {
				mount.id = id;
				resetRun(mount.choices);
				run.hello();
				continue;
			}
			this.unmount(element);
			this.#past.add(element);
			this.#waiting.add(element);
		}
	}

	/** Whether this is the frozen result that replaces its run's first frame; the run's digest may arrive later. */
	#replacesFirstFrame(element: Element, run: RunEntry): boolean {
		const [before, mount] = this.#mountOn(surfaceOf(element)) ?? [];
		return run.digest === null && mount?.run === run && before?.getAttribute(ID) === run.state?.id;
	}

	/**
	 * Whether this is an older result of the same cell, saved before the cell was run again: after a reload there is no
	 * other output for the new run. With several notebooks on the page it may belong to another one.
	 */
	#isOlderResult(element: Element, run: RunEntry): boolean {
		if (element.hasAttribute(ID) || this.#past.has(element) || this.#placed.has(run.state?.id ?? ""))
			return false;
		return (
			document.querySelectorAll(".jp-Notebook").length < 2 &&
			!outputsOf(run).some((output) => shows(output, run))
		);
	}

	#tryMount(element: Element, run: RunEntry, takeOver: boolean): boolean {
		if (!shows(element, run) && !this.#replacesFirstFrame(element, run) && !this.#isOlderResult(element, run))
			return false;
		// If the kernel is gone, only a redrawn output, which has its run's id, is mounted again.
		if (this.gone && element.getAttribute(ID) !== run.state?.id) return false;
		if (!claim(element, this, run.since, takeOver || element.hasAttribute(ID))) return false;
		const isNew = run.busy && !this.#placed.has(run.state?.id ?? "");
		this.#placed.add(run.state?.id ?? "");
		this.#waiting.delete(element);
		this.mount(element, run);
		if (isNew) showWhole(surfaceOf(element));
		if (isNew && run.state?.meta.stage) labExtension()?.show({ element, key: run.key }, null);
		if (element.hasAttribute(ID)) void replaceFirstFrames(run);
		return true;
	}
}

/** JupyterLab's node around the output if it contains no other output, else the output itself. */
function surfaceOf(element: Element): Element {
	const around = element.hasAttribute(KEY) ? element.closest("div.jp-RenderedHTML") : null;
	return around?.querySelectorAll(`[${KEY}]`).length === 1 ? around : element;
}

/** The outputs in a part of the page, including the part itself. */
function outputsIn(node: Node): Iterable<Element> {
	if (!(node instanceof Element)) return [];
	const inside = node.querySelectorAll(`[${KEY}]`);
	return node.hasAttribute(KEY) ? [node, ...inside] : inside;
}

/** The outputs on the page with the run's key. */
function outputsOf({ key }: RunEntry): Element[] {
	return [...document.querySelectorAll(`[${KEY}]`)].filter((output) => output.getAttribute(KEY) === key);
}

/** Whether an output is no longer on the page. A widget view may be filled before it is attached. */
function hasLeft(element: Element): boolean {
	return !element.isConnected && element.hasAttribute(KEY);
}

/** Whether the attributes of an output match the run. */
function shows(element: Element, run: RunEntry): boolean {
	const [id, digest] = [element.getAttribute(ID), element.getAttribute(DIGEST)];
	return (!id || id === run.state?.id) && (!digest || digest === run.digest);
}

/**
 * Removes the frozen form's frames, and returns a function that puts them back. A browser runs the pages in them even
 * when they are not drawn, and one that hangs would hang the live previews too.
 */
function removeFrames(element: Element): () => void {
	const frames = [...element.querySelectorAll("iframe")].map((frame) => {
		const place = document.createComment("");
		frame.replaceWith(place);
		return { frame, place };
	});
	return () => {
		for (const { frame, place } of frames) place.replaceWith(frame);
	};
}

const TEXT = ".jp-PlaceholderText";
const TITLE = /^<!-- ([\p{L}\p{N}_]+: [^<>]+) -->$/u;

/** Converts the title comments of our collapsed outputs to visible text. */
function showTitles(node: Node): void {
	const part = node instanceof Element ? node : node.parentElement;
	for (const element of [part?.closest(TEXT), ...(part?.querySelectorAll(TEXT) ?? [])]) {
		const title = TITLE.exec(element?.textContent ?? "")?.[1];
		if (element && title) element.textContent = title;
	}
}

/** The run's id, on the output of an active run: the same cell may be running in another notebook. */
const ID = "data-anb-id";

/** Milliseconds to wait for the window that ran the cell to write the result to a shared notebook. */
const WRITE_AFTER = 1000;

/** One replace function per first frame of a run in the notebook; empty if the notebook cannot be read. */
function firstFrames(
	notebook: NotebookContext | null,
	run_id: string,
): ((data: CellOutput["data"]) => void)[] {
	return [...(notebook?.model.sharedModel.cells ?? [])].flatMap((cell) =>
		(cell.getOutputs?.() ?? []).flatMap((output, index) =>
			String(output.data?.["text/html"]).includes(`${ID}="${run_id}"`)
				? [(data) => cell.updateOutputs?.(index, index + 1, [{ ...output, data }])]
				: [],
		),
	);
}

/** Restores a run's first frame in its cell, if the notebook was reloaded without having been saved with it. */
function restoreFirstFrame(notebook: NotebookContext | null, { run_id, cell_id, data }: LostRun): void {
	const cell = notebook?.model.sharedModel.cells.find((other) => other.getId?.() === cell_id);
	if (!cell || notebook?.model.readOnly || firstFrames(notebook, run_id).length) return;
	const output = { output_type: "display_data", data, metadata: {} };
	cell.updateOutputs?.(0, cell.getOutputs?.().length ?? 0, [output]);
}

/**
 * Replaces first frames that the kernel could not: its display updates do not reach a cell that was cut and pasted, or
 * a page that was reloaded.
 */
async function replaceFirstFrames(run: RunEntry): Promise<void> {
	const { notebook, state } = run;
	const isMissing = (): boolean => state !== null && firstFrames(notebook, state.id).length > 0;
	if (!state?.ready || notebook?.model.readOnly || !isMissing()) return;
	await new Promise((resolve) => setTimeout(resolve, WRITE_AFTER));
	if (!isMissing()) return;
	const answer = await run.command("result");
	if (!answer.ok) return;
	for (const replace of firstFrames(notebook, state.id)) replace(answer.data as CellOutput["data"]);
}
