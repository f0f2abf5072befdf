// Selects the file and version in the result pane: the user's choice, else the newest page.

import { changesOf } from "../run/changes.ts";
import type { FileState, VariantState, Version } from "../run/state.ts";
import type { Choices, Tab } from "./choices.ts";

export interface ShownFile {
	file: FileState;
	/** Null while the first version is being written. */
	version: Version | null;
	text: string | null;
	live: boolean;
	/** Whether the text was cut off by the end of the run and not kept. */
	cut: boolean;
	epoch: number | null;
}

/** The moment after all changes of a run, which includes text cut off by its end. */
export const UNFINISHED = Number.POSITIVE_INFINITY;
export const NOT_KEPT = "unfinished, not kept";

export function isPage(path: string): boolean {
	return /\.(html?|xhtml)$/i.test(path);
}

function isImage(file: FileState): boolean {
	return /^image\//.test(file.media_type) || /\.(svg|png|jpe?g|gif|webp|avif|ico)$/i.test(file.path);
}

export function canShow(file: FileState): boolean {
	return isPage(file.path) || isImage(file);
}

/** The file shown in Code, Diff and the version bar. */
export function shownFile(state: VariantState, choices: Choices): ShownFile | null {
	const { moment } = choices;
	const chosen = choices.file === null ? undefined : state.files.get(choices.file);
	const file = chosen && existsAt(chosen, moment) ? chosen : defaultFile(state, moment);
	return file ? fileAt(file, moment) : null;
}

/** The file shown in the preview: the chosen one if the preview can show it, else the newest page. */
export function shownPage(state: VariantState, choices: Choices): ShownFile | null {
	const shown = shownFile(state, choices);
	if (shown && canShow(shown.file)) return shown;
	const page = defaultFile(state, choices.moment, canShow);
	return page ? fileAt(page, choices.moment) : null;
}

function defaultFile(
	state: VariantState,
	moment: number | null,
	wanted: (file: FileState) => boolean = () => true,
): FileState | null {
	const alive = [...state.files.values()].filter((file) => existsAt(file, moment) && wanted(file));
	const newest = state.newest ? state.files.get(state.newest) : undefined;
	const pages = alive.filter((file) => isPage(file.path));
	if (newest && pages.includes(newest) && newest.draft) return newest;
	return pages.find((file) => file.path === "index.html") ?? pages[0] ?? alive[0] ?? null;
}

function existsAt(file: FileState, moment: number | null): boolean {
	if (moment === null) return !file.deleted;
	return isCut(file, moment) || versionAt(file, moment) !== undefined;
}

/** Whether to show the unfinished text: at its own moment, or if there is no version. */
function isCut(file: FileState, moment: number | null): boolean {
	return file.unfinished !== null && (moment === UNFINISHED || file.versions.length === 0);
}

/** The version of a file after a change of the run; undefined if the file did not exist. */
export function versionAt(file: FileState, moment: number): Version | undefined {
	const version = file.versions.findLast(({ change }) => change <= moment);
	return version?.action === "deleted" ? undefined : version;
}

/** A file as it was at a moment; null if it did not exist. */
export function fileAt(file: FileState, moment: number | null): ShownFile | null {
	if (!existsAt(file, moment)) return null;
	const newest = file.versions.at(-1) ?? null;
	const cut = isCut(file, moment);
	const chosen = moment === null || cut ? newest : (versionAt(file, moment) ?? null);
	const written = cut ? file.unfinished : moment === null ? file.draft : null;
	const { text = null, epoch = null } = written ?? chosen ?? {};
	return { file, version: chosen, text, live: written !== null && !cut, cut, epoch };
}

/** Whether there is a result beside the transcript: a page, an image, or changes of cells. */
export function hasResult(state: VariantState): boolean {
	return [...state.files.values()].some(canShow) || changesOf(state).length > 0;
}

/** The chosen tab. Without a page, changes of cells take the place of the preview. */
export function shownTab({ tab }: Choices, state: VariantState): Tab {
	const isEmpty = ![...state.files.values()].some(canShow);
	if (tab === "preview" && isEmpty && changesOf(state).length) return "notebook";
	return tab === "notebook" && !changesOf(state).length ? "preview" : tab;
}

export function versionLabel(version: Version | undefined): string {
	return `v${version?.number ?? 1}${version?.unfinished ? ", unfinished" : ""}`;
}

/** All files that have not been deleted, sorted by path. */
export function presentFiles(state: VariantState): FileState[] {
	return [...state.files.values()]
		.filter((file) => !file.deleted)
		.sort((a, b) => a.path.localeCompare(b.path));
}
