// The cell that asks for a change to a run: notes on elements of its page, and text.

import { isName, type NotebookContext } from "./cells.ts";
import type { Repeat } from "./events.ts";
import type { RunEntry } from "./runs.ts";

/** An element that the user has pointed at. */
export interface ElementRef {
	/** Tag names and numbers alone, such as `main > h2:nth-of-type(2)`. */
	path: string;
	file: string;
	/** Such as `the heading`, or `paragraph 2 of 3`. */
	label: string;
	/** Where it begins in the source; null until the kernel has answered. */
	line: number | null;
	/** What wrote it, such as `turn 1: create index.html`. */
	origin: string;
}

/** What should change about some elements. */
export interface Note {
	readonly elements: ElementRef[];
	text: string;
}

export interface Ask {
	notes: Note[];
	text: string;
	/** The field that takes the focus when it is drawn: that of the last note, or the one below the notes. */
	focus?: "note" | "text" | undefined;
	/** The options of the run's cell that the next one leaves out, as they stand in it. */
	without?: readonly string[];
	/** The run of the cell that was inserted last, out of sight: this one continues from it. */
	base?: string;
}

/** What is asked for, and of which variant at which moment; null is the newest. */
export interface PlacedAsk {
	readonly ask: Ask;
	readonly moment: number | null;
	readonly variant: number;
}

export function newAsk(): Ask {
	return { notes: [], text: "" };
}

const STORE = "agent_nb.ask ";

/** Stores what is typed below a run until the page is reloaded, or removes it where there is nothing. */
export function storeAsk(run_id: string, { notes, text, without }: Ask): void {
	try {
		if (notes.length || text)
			sessionStorage.setItem(STORE + run_id, JSON.stringify({ notes, text, without }));
		else sessionStorage.removeItem(STORE + run_id);
	} catch {
		// Storage is full or forbidden: only a reload loses the text.
	}
}

/** What was typed below the run before the page was reloaded. */
export function storedAsk(run_id: string): Ask {
	try {
		const { notes, text, without } = JSON.parse(sessionStorage.getItem(STORE + run_id) ?? "") as Ask;
		const isWhole = ({ elements, text }: Note): boolean =>
			typeof text === "string" && elements.every(({ path, file }) => isPath(path) && isFile(file));
		return { notes: notes.filter(isWhole), text: String(text), ...(without && { without }) };
	} catch {
		return newAsk();
	}
}

/** Adds a line to what is asked for. It is never text of the page: that may only be referred to. */
export function addToAsk(ask: Ask, line: string): void {
	const lines = ask.text.trim().split("\n").filter(Boolean);
	if (!lines.includes(line)) lines.push(line);
	Object.assign(ask, { text: lines.join("\n"), focus: "text" });
}

/** What is asked for after a cell that nobody can see yet: its run goes on. */
export function askAfter(cell: string): Ask {
	const [, base = ""] = /^%%\w+ (\w+)/u.exec(cell) ?? [];
	return isName(base) ? { ...newAsk(), base } : newAsk();
}

const PATH =
	/^[a-z][a-z0-9-]{0,30}(?::nth-of-type\(\d{1,5}\))?(?: > [a-z][a-z0-9-]{0,30}(?::nth-of-type\(\d{1,5}\))?){0,60}$/;

/** Whether a file can be named in a cell. */
export function isFile(file: string): boolean {
	return /^[\w./-]{1,100}$/.test(file);
}

/** Whether a path may stand in a cell: text from the page never does. */
export function isPath(path: string): boolean {
	return PATH.test(path);
}

/** The cell's text, or null if there is nothing to ask, or no cell could hold it. */
export function cellText(run: RunEntry, asking: PlacedAsk): string | null {
	const { meta } = run.state ?? {};
	const { name = "", magic } = meta ?? {};
	const { notes, text } = asking.ask;
	const lines = [...notes.map((note) => lineOf(name, note)), text.trim()].filter(Boolean);
	if (!isName(name) || lines.length === 0) return null;
	const next = nextName(name, run);
	const base = baseOf(run, asking);
	if (!magic) return marimoCell(base, next, lines.join("\n"));
	return `${firstLine(run, asking)}\n${lines.join("\n")}`;
}

/** The first line of a cell that continues from what is shown. Its name must have passed `isName`. */
export function firstLine(run: RunEntry, asking: PlacedAsk): string {
	const { name = "", magic } = run.state?.meta ?? {};
	const base = `--from ${baseOf(run, asking)}`;
	const options = [base, ...repeatsOf(run, asking.ask).map((one) => one.text)].join(" ");
	return `%%${magic} ${nextName(name, run)}${modelOption(run)} ${options}`;
}

/** The options of the run's cell that the next one repeats. */
export function repeatsOf({ state }: RunEntry, { without }: Ask): Repeat[] {
	return (state?.meta.repeats ?? []).filter(({ text }) => !without?.includes(text));
}

/** What the next run continues from: the run, or the moment of it that is shown. */
function baseOf({ state }: RunEntry, { ask, moment, variant }: PlacedAsk): string {
	if (ask.base) return ask.base;
	const { meta, ready, variants } = state ?? {};
	const { name = "", magic } = meta ?? {};
	// In marimo, the variable of a run stays what it was when a variant is picked.
	const picked = !magic && ready?.picked ? `.pick(${ready.variant + 1})` : "";
	if (moment === null || !Number.isFinite(moment)) return name + picked;
	const isBound = (variants?.size ?? 1) < 2 || ready?.variant === variant;
	return `${name}${isBound ? picked : `.pick(${variant + 1})`}.at(${moment})`;
}

/** The same without a magic. A path is enough for the model to find an element. */
function marimoCell(base: string, next: string, prompt: string): string {
	const plain = prompt.replace(/\{\{\w+\.element\("(.*?)"(?:, "(.*?)")?\)\}\}/gu, (_all, path, file) =>
		file ? `\`${path}\` in ${file}` : `\`${path}\``,
	);
	return `${next}, ${next}_view = await agent_nb.marimo.agent(${JSON.stringify(plain)}, name="${next}", base=${base})`;
}

/** The option for the run's own model where cells use another by default; a replay may have been made without a key. */
function modelOption({ state }: RunEntry): string {
	const { model = "", default_model: standard } = state?.meta ?? {};
	const replayed = [...(state?.variants?.values() ?? [])].some((variant) => variant.settings.replayed);
	const isOther = standard && model !== standard && /^[\w.:/@-]+$/.test(model);
	return isOther && !replayed ? ` -m ${model}` : "";
}

function lineOf(name: string, { elements, text }: Note): string {
	const references = elements.map(({ path, file }) => {
		const page = file === "index.html" ? "" : `, "${file}"`;
		return `{{${name}.element("${path}"${page})}}`;
	});
	return references.length && text.trim() ? `${references.join(" and ")}: ${text.trim()}` : "";
}

/** `hero_2` after `hero`: the next number that neither a run nor a cell of the notebook uses. */
export function nextName(name: string, { names, notebook }: Pick<RunEntry, "names" | "notebook">): string {
	const [, stem = name, last = "1"] = /^(.*?)_([1-9]\d{0,5})$/u.exec(name) ?? [];
	const taken = new Set(names());
	const sources = sourcesOf(notebook);
	let number = Number(last) + 1;
	while (taken.has(`${stem}_${number}`) || sources.includes(`${stem}_${number}`)) number++;
	return `${stem}_${number}`;
}

function sourcesOf(notebook: NotebookContext | null): string {
	return (notebook?.model.sharedModel.cells ?? []).map((cell) => cell.getSource?.() ?? "").join("\n");
}
