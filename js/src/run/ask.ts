// The request for a change to a run, from notes on elements of its page and free text, and the cell that makes it.

import { load, store } from "../base/storage.ts";
import { type CellSource, cellSource, isFile, isImage, isPath } from "./cell-source.ts";
import type { Repeat } from "./events.ts";
import type { RunEntry } from "./runs.ts";

/** An element that the user has pointed at. */
export interface ElementRef {
	/** Only tag names and numbers, such as `main > h2:nth-of-type(2)`. */
	path: string;
	file: string;
	/** Such as `the heading`, or `paragraph 2 of 3`. */
	label: string;
	/** Its first line in the source; null until the kernel has answered. */
	line: number | null;
	/** The call that wrote it, such as `turn 1: create index.html`. */
	origin: string;
}

/** A requested change to some elements. */
export interface ElementNote {
	readonly elements: ElementRef[];
	text: string;
}

/** An image that the user has pasted for the next cell. */
export interface PastedImage {
	/** The kernel's file; empty while it is being saved. */
	path: string;
	/** A small JPEG in base64; may be empty. */
	thumbnail: string;
}

export interface Ask {
	notes: ElementNote[];
	text: string;
	images?: readonly PastedImage[];
	/** The field to focus on the next draw: the last note's, or the one below the notes. */
	focus?: "note" | "text" | undefined;
	/** Options of the run's cell, as written, that the user has left out of the next one or added to it. */
	toggled?: readonly string[];
	/** The run of the cell that was inserted last, out of sight: this one continues from it. */
	base?: string;
}

/** A request for a variant at a moment; null is the newest. */
export interface PlacedAsk {
	readonly ask: Ask;
	readonly moment: number | null;
	readonly variant: number;
}

export function newAsk(): Ask {
	return { notes: [], text: "" };
}

const STORE = "agent_nb.ask ";

/** Saves the unsent request of a run across a reload, or removes it if it is empty. */
export function storeAsk(run_id: string, { notes, text, toggled, images = [] }: Ask): void {
	const isEmpty = !notes.length && !text && !images.length;
	store("sessionStorage", STORE + run_id, isEmpty ? null : { notes, text, toggled, images });
}

/** The unsent request from before a reload. */
export function storedAsk(run_id: string): Ask {
	try {
		const { notes, text, toggled, images = [] } = load("sessionStorage", STORE + run_id) as Ask;
		const isWhole = ({ elements, text }: ElementNote): boolean =>
			typeof text === "string" && elements.every(({ path, file }) => isPath(path) && isFile(file));
		const saved = images.filter(({ path }) => isImage(path));
		return { notes: notes.filter(isWhole), text: String(text), images: saved, ...(toggled && { toggled }) };
	} catch {
		return newAsk();
	}
}

/** Adds a line to the request. It must never be text from the page, which may only be referenced. */
export function addToAsk(ask: Ask, line: string): void {
	const lines = ask.text.trim().split("\n").filter(Boolean);
	if (!lines.includes(line)) lines.push(line);
	Object.assign(ask, { text: lines.join("\n"), focus: "text" });
}

/** The next cell, or null if the request is empty or cannot be written as a cell. */
export function cellText(run: RunEntry, asking: PlacedAsk): CellSource | null {
	const { notes, text, images = [] } = asking.ask;
	const request = { run: referenceTo(run), notes, text };
	const [line, paths] = [firstLine(run, asking), images.map(({ path }) => path)];
	if (line.magic) return cellSource("next", { ...line, images: paths, prompt: request });
	return cellSource("marimo", { ...line, value: line.base, literal: request });
}

/** The first line of a cell that continues from what is shown; null if the run has no name for a cell. */
export function startText(run: RunEntry, asking: PlacedAsk): CellSource | null {
	return cellSource("start", firstLine(run, asking));
}

/** The cell in which the model goes on with what it was writing, under a new name: the run is kept. */
export function resumeText(run: RunEntry, variant: number): CellSource | null {
	const ask = { ...newAsk(), base: referenceTo(run, variant) };
	return cellSource("resume", firstLine(run, { ask, moment: null, variant }));
}

function firstLine(run: RunEntry, asking: PlacedAsk) {
	const { name = "", magic = "" } = run.state?.meta ?? {};
	const options = repeatsOf(run, asking.ask);
	return { magic, next: nextName(name, run), model: modelOf(run), base: baseOf(run, asking), options };
}

/** The options of the run's cell as they are ticked for the next one. */
export function optionsOf({ state }: RunEntry, { toggled = [] }: Ask): Repeat[] {
	const repeats = state?.meta.repeats ?? [];
	return repeats.map((repeat) => ({ ...repeat, ticked: repeat.ticked !== toggled.includes(repeat.text) }));
}

/** The options that the next cell repeats, as written. */
export function repeatsOf(run: RunEntry, ask: Ask): string[] {
	return optionsOf(run, ask).flatMap(({ text, ticked }) => (ticked ? text : []));
}

/** The run as a cell names it, with the variant that its variable refers to: a pick does not survive a restart. */
export function referenceTo({ state }: RunEntry, number = state?.ready?.variant): string {
	const { meta, variants } = state ?? {};
	const variant = (variants?.size ?? 1) > 1 && number !== undefined ? `.${number + 1}` : "";
	return `${meta?.name ?? ""}${variant}`;
}

/** The base of the next run: this run, or the visible moment of the visible variant. */
function baseOf(run: RunEntry, { ask, moment, variant }: PlacedAsk): string {
	if (ask.base) return ask.base;
	if (moment === null || !Number.isFinite(moment)) return referenceTo(run);
	return `${referenceTo(run, variant)}.at(${moment})`;
}

/** The run's model if it is not the default; else empty, as for several models and for clients, which are no models. */
function modelOf({ state }: RunEntry): string {
	const { model = "", default_model: standard } = state?.meta ?? {};
	const isModel = !model.includes(", ") && !model.startsWith("client:");
	return standard && model !== standard && isModel ? model : "";
}

/** `hero_2` after `hero`: the next number that neither a run nor a cell of the notebook uses. */
export function nextName(name: string, { names, notebook }: Pick<RunEntry, "names" | "notebook">): string {
	const [, stem = name, last = "1"] = /^(.*?)_([1-9]\d{0,5})$/u.exec(name) ?? [];
	const used = new Set(names());
	const cells = notebook?.model.sharedModel.cells ?? [];
	const sources = cells.map((cell) => cell.getSource?.() ?? "").join("\n");
	let number = Number(last) + 1;
	while (used.has(`${stem}_${number}`) || sources.includes(`${stem}_${number}`)) number++;
	return `${stem}_${number}`;
}
