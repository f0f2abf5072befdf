// One file of a run: its versions, the draft being written, and what a call changed.

import type { FileChanged, LinePatch } from "./events.ts";

export interface Version extends Pick<FileChanged, "action" | "size" | "added" | "removed" | "first_line"> {
	number: number;
	/** The number of the file change that created it, from 1; 0 for an input file of the run. */
	change: number;
	/** Null for binary files, and for text that must be requested from the kernel. */
	text: string | null;
	/** The draft that this version was streamed as, or null. */
	epoch: number | null;
	patch: readonly LinePatch[] | null;
	/** Whether the run ended while the model was writing it, and the partial text was kept. */
	unfinished: boolean;
}

export interface FileDraft {
	call_id: string;
	text: string;
	/** Length in code points, in which offsets are counted. */
	points: number;
	/** While it is unchanged, `text` only grows. */
	epoch: number;
	/** Whether the path is provisional because the model has not written it yet. */
	unnamed: boolean;
}

export interface FileState {
	path: string;
	media_type: string;
	versions: readonly Version[];
	draft: FileDraft | null;
	/** The draft that was cut off by the end of the run, if it was not kept. */
	unfinished: FileDraft | null;
	deleted: boolean;
}

/** The effect of a tool call on files. */
export interface FileChange extends Pick<FileChanged, "action" | "size" | "added" | "removed"> {
	/** Null when it changed several files. */
	path: string | null;
}

/** Merges the changes of a call: the latest for one file, the sum without a path for several. */
export function joined(before: FileChange | null, change: FileChange): FileChange {
	if (!before || before.path === change.path) return change;
	return {
		path: null,
		action: change.action,
		size: before.size + change.size,
		added: before.added + change.added,
		removed: before.removed + change.removed,
	};
}

/** The text of a new version: the patched previous text, or the streamed draft. */
export function contents(file: FileState, event: FileChanged): { text: string | null; epoch: number | null } {
	const epoch = file.draft?.epoch ?? null;
	if (event.action === "deleted") return { text: "", epoch: null };
	if (event.patch) {
		const text = applyPatch(file.versions.at(-1)?.text ?? "", event.patch);
		return { text, epoch: file.draft?.text === text ? epoch : null };
	}
	if (!isText(event.media_type)) return { text: null, epoch: null };
	return { text: file.draft?.text ?? null, epoch };
}

export type FileMap = ReadonlyMap<string, FileState>;

/** A provisional path for a file the model has not named yet: `index.html` for HTML, unless that exists. */
export function provisionalPath(files: FileMap, call_id: string, text: string): string {
	const begun = unnamedBy(files, call_id);
	if (begun) return begun.path;
	const page = files.get("index.html");
	return /^\s*(<|$)/.test(text) && (!page || page.deleted) ? "index.html" : "untitled";
}

/** Removes a call's draft from its provisional path, once the call has named its file. */
export function withNamed(files: FileMap, call_id: string, path: string): FileMap {
	const unnamed = unnamedBy(files, call_id);
	if (!unnamed || unnamed.path === path) return files;
	const renamed = new Map(files);
	if (unnamed.versions.length) renamed.set(unnamed.path, { ...unnamed, draft: null });
	else renamed.delete(unnamed.path);
	return renamed;
}

function unnamedBy(files: FileMap, call_id: string): FileState | undefined {
	return [...files.values()].find(({ draft }) => draft?.unnamed && draft.call_id === call_id);
}

/** Removes the drafts of some calls, and files that have no versions. */
export function withoutDrafts(files: FileMap, isGone: (call_id: string) => boolean): FileMap {
	const remaining = new Map<string, FileState>();
	for (const [path, file] of files) {
		const current = file.draft && isGone(file.draft.call_id) ? { ...file, draft: null } : file;
		if (current.draft || current.versions.length) remaining.set(path, current);
	}
	return remaining;
}

/** Marks all drafts as unfinished, at the end of a run. */
export function endDrafts(files: FileMap): FileMap {
	const ended = [...files].map(
		([path, file]) => [path, file.draft ? { ...file, draft: null, unfinished: file.draft } : file] as const,
	);
	return new Map(ended);
}

/** The newest text of a file: its draft, else its last version, else its unfinished text. */
export function textOf({ draft, versions, unfinished }: FileState): string | null {
	return (draft ?? versions.at(-1) ?? unfinished)?.text ?? null;
}

/** Counts code points; `length` counts those above U+FFFF twice. */
export function countPoints(text: string): number {
	return [...text].length;
}

/** The first `points` code points of a string. */
export function sliceToPoint(text: string, points: number): string {
	return [...text].slice(0, points).join("");
}

/** Applies a patch. Its hunks refer to lines of the original text, so the last one is applied first. */
export function applyPatch(text: string, patch: readonly LinePatch[]): string {
	const lines = text.split("\n");
	for (const [start, count, replacement] of patch.toReversed()) lines.splice(start, count, replacement);
	return lines.join("\n");
}

function isText(mediaType: string): boolean {
	return /^text\/|[/+](json|xml|javascript|x-sh|yaml|toml)\b|^image\/svg/.test(mediaType);
}
