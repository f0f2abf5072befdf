// Builds the source of every cell that a press inserts or runs. It consists of constants, numbers, names, ids of cells,
// text that the user has typed, and code that is shown whole beside the button. With any other value there is no cell:
// notebooks and files of runs may come from someone else.

declare const BUILT: unique symbol;
/** A source that this module has built. */
export type CellSource = string & { readonly [BUILT]: true };

/** What the user has typed about elements of a run's page. */
interface TypedNote {
	readonly elements: readonly { readonly path: string; readonly file: string }[];
	readonly text: string;
}

interface Request {
	/** The run that elements are of: its name, or that of its variant, such as `hero.2`. */
	readonly run: string;
	readonly notes: readonly TypedNote[];
	readonly text: string;
}

/** The longest code that a button runs: the user should be able to read it first. */
const MOST_SHOWN = 2000;
const NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;
const RUN = /^[\p{L}_][\p{L}\p{N}_]*(?:\.\d{1,6})?$/u;
const BASE = /^[\p{L}_][\p{L}\p{N}_]*(?:\.\d{1,6})?(?:\.at\(\d{1,6}\))?$/u;
const MODEL = /^[a-zA-Z0-9][\w.:/@[\]-]*$/;
const OPTION = /^--?[a-z][a-z-]* (?:[\p{L}\p{N}_./*][\p{L}\p{N}_.:/=*,-]*|"[^"\p{C}]*"|'[^'\p{C}]*')$/u;
const PATH =
	/^[a-z][a-z0-9-]{0,30}(?::nth-of-type\(\d{1,5}\))?(?: > [a-z][a-z0-9-]{0,30}(?::nth-of-type\(\d{1,5}\))?){0,60}$/;
/** The ids of the notebook format, without those that `notebook_tools/cells.py` reads as numbers of cells. */
const CELL = /^(?!\d{1,4}(?:-\d{1,4})?$)[a-zA-Z0-9_-]{1,64}$/;

/** As `images/pasted.py` in the kernel names files. */
const IMAGE = /^images\/[\p{L}_][\p{L}\p{N}_]{0,59}-[1-9]\d{0,2}\.(?:png|jpg|webp)$/u;

/** The cells. A word in braces stands for a value, which must pass the check of that name. */
export const TEMPLATES = {
	ask: "%%agent about_{count} -t kernel\n\nThis is about {cell}.",
	code: "{code}",
	export: "%{magic} export {name}",
	fix: "%agent fix {count}",
	keep: "{next} = {value}.with_files({value}.unfinished)",
	key: "%{magic} key {vendor}",
	load: "%load_ext agent_nb{rename}\n%{magic} load {name}",
	marimo: '{next}, {next}_view = await agent_nb.marimo.agent({literal}, name="{next}", base={value})',
	next: "%%{magic} {next}{model} --from {base}{options}{images}\n{prompt}",
	resume: "%%{magic} {next}{model} --from {base}{options}\nContinue where you stopped.",
	setup: "%load_ext agent_nb{rename}",
	shown: "{shown}",
	start: "%%{magic} {next}{model} --from {base}{options}\n",
} as const;

/** The text of a value in a cell; null if it does not belong there. */
const CHECKS = {
	base: (base: string) => matching(BASE, base),
	/** The id of a cell, which the kernel replaces by what the cell shows. */
	cell: (id: string) => matching(CELL, id, "{{cell:", "}}"),
	/** Code that is inserted and not run. */
	code: (code: string) => (isReadable(code) ? code : null),
	count: (count: unknown) => (Number.isSafeInteger(count) && Number(count) > 0 ? `${count}` : null),
	/** Paths of images that the kernel has saved. */
	images: (paths: readonly string[]) =>
		paths.every(isImage) ? paths.map((path) => ` -i ${path}`).join("") : null,
	literal: pythonString,
	magic: (magic: string) => matching(NAME, magic),
	/** Empty for the default model. */
	model: (model: string) => model && matching(MODEL, model, " -m "),
	name: (name: string) => matching(NAME, name),
	next: (name: string) => matching(NAME, name),
	options: (options: readonly string[]) =>
		options.every((option) => matching(OPTION, option)) ? ["", ...options].join(" ") : null,
	prompt: promptOf,
	/** A magic renamed with `%config` does not survive a restart. */
	rename: (magic: string) =>
		magic === "agent" ? "" : matching(NAME, magic, '\n%config AgentMagics.magic_name = "', '"'),
	/** A base in Python, where variant 2 is `hero.pick(2)`. */
	value: (base: string) => matching(BASE, base)?.replace(/\.(\d+)/, ".pick($1)") ?? null,
	vendor: (name: string) => matching(/^[a-z][a-z0-9_-]*$/, name),
	/** Code that is shown whole beside the button that runs it. */
	shown: (code: string) => (code.length <= MOST_SHOWN && isReadable(code) ? code : null),
};

export type CellKind = keyof typeof TEMPLATES;
type Field<T extends string> = T extends `${string}{${infer F}}${infer Rest}` ? F | Field<Rest> : never;
type Values<K extends CellKind> = {
	readonly [F in Field<(typeof TEMPLATES)[K]> & keyof typeof CHECKS]: Parameters<(typeof CHECKS)[F]>[0];
};

/** The source of a cell; null if a value does not belong in it. */
export function cellSource<K extends CellKind>(kind: K, values: Values<K>): CellSource | null {
	let isWhole = true;
	const source = TEMPLATES[kind].replace(/\{(\w+)\}/g, (_, field: keyof typeof values) => {
		const text = (CHECKS[field] as (value: unknown) => string | null)(values[field]);
		isWhole &&= text !== null;
		return text ?? "";
	});
	return isWhole ? (source as CellSource) : null;
}

/** Whether a run's name is a Python identifier, so that it may be used in a cell. */
export function isName(name: string): boolean {
	return NAME.test(name);
}

/** Whether a text has no control, bidi or invisible characters, so that the user sees exactly what the cell contains. */
export function isReadable(text: string): boolean {
	return text.trim() !== "" && !/[^\P{C}\n\t]/u.test(text);
}

/** Whether a file name may be used in a cell. */
export function isFile(file: string): boolean {
	return /^[\w./-]{1,100}$/.test(file);
}

/** Whether a path of the kernel is that of a saved image, and may be used in a cell. */
export function isImage(path: unknown): path is string {
	return matching(IMAGE, path) !== null;
}

/** Whether an element path may be used in a cell. Text from the page never matches. */
export function isPath(path: string): boolean {
	return PATH.test(path);
}

function matching(pattern: RegExp, value: unknown, before = "", after = ""): string | null {
	return typeof value === "string" && pattern.test(value) ? before + value + after : null;
}

/** The notes, one per line, and the text below them. */
function promptOf({ run, notes, text }: Request): string | null {
	const elements = notes.flatMap((note) => note.elements);
	const lines = [...notes.map((note) => lineOf(run, note)), text.trim()].filter(Boolean).join("\n");
	const isValid = RUN.test(run) && elements.every(({ path, file }) => isPath(path) && isFile(file));
	return isValid && isReadable(lines) ? lines : null;
}

function lineOf(run: string, { elements, text }: TypedNote): string {
	const references = elements.map(({ path, file }) => {
		const page = file === "index.html" ? "" : `, "${file}"`;
		return `{{${run}.element("${path}"${page})}}`;
	});
	return references.length && text.trim() ? `${references.join(" and ")}: ${text.trim()}` : "";
}

/** The prompt as a Python string. A path is enough for the model to find an element. */
function pythonString(request: Request): string | null {
	const prompt = promptOf(request);
	const element = /\{\{[^{}"]+\.element\("(.*?)"(?:, "(.*?)")?\)\}\}/gu;
	const plain = prompt?.replace(element, (_all, path, file) => `\`${path}\`${file ? ` in ${file}` : ""}`);
	return plain === undefined ? null : JSON.stringify(plain);
}
