// One file of a run: its versions, the draft being written, and what a call changed.

import type { FileAction, FileChanged, LinePatch } from "./events.ts";

export interface Version {
	number: number;
	/** The number of the change of the run's files that made it, from 1; 0 for a file that the run was given. */
	change: number;
	action: FileAction;
	size: number;
	added: number;
	removed: number;
	first_line: number;
	/** Null for binary files, and for text that must be requested from the kernel. */
	text: string | null;
	/** The draft that this version was streamed as, or null. */
	epoch: number | null;
	patch: readonly LinePatch[] | null;
	/** Whether the run ended while the model was writing it, and kept what there was. */
	unfinished: boolean;
}

export interface FileDraft {
	call_id: string;
	text: string;
	/** Length in code points, in which offsets are counted. */
	points: number;
	/** As long as it stays the same, `text` only grows. */
	epoch: number;
	/** Whether the model has not written its path yet, so that it has a provisional one. */
	unnamed: boolean;
}

export interface FileState {
	path: string;
	media_type: string;
	versions: readonly Version[];
	draft: FileDraft | null;
	/** What the model was writing when the run ended, if it was not kept. */
	unfinished: FileDraft | null;
	deleted: boolean;
}

/** What a tool call changed. */
export interface FileChange {
	/** Null when it changed several files. */
	path: string | null;
	action: FileAction;
	size: number;
	added: number;
	removed: number;
}

/** All that a call has changed; without a path once there is a second file. */
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

/** The text of a new version: the previous one patched, or the draft that was streamed. */
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

/** The path of a file that the model has not named yet: that of a page only if it hides no other. */
export function provisionalPath(files: FileMap, call_id: string, text: string): string {
	const begun = unnamedBy(files, call_id);
	if (begun) return begun.path;
	const page = files.get("index.html");
	return /^\s*(<|$)/.test(text) && (!page || page.deleted) ? "index.html" : "untitled";
}

/** The files once a call has named the file it writes: without its draft under a provisional path. */
export function withNamed(files: FileMap, call_id: string, path: string): FileMap {
	const unnamed = unnamedBy(files, call_id);
	if (!unnamed || unnamed.path === path) return files;
	const named = new Map(files);
	if (unnamed.versions.length) named.set(unnamed.path, { ...unnamed, draft: null });
	else named.delete(unnamed.path);
	return named;
}

function unnamedBy(files: FileMap, call_id: string): FileState | undefined {
	return [...files.values()].find(({ draft }) => draft?.unnamed && draft.call_id === call_id);
}

/** The files without what some calls were writing. A file of which there is nothing else is gone. */
export function withoutDrafts(files: FileMap, isGone: (call_id: string) => boolean): FileMap {
	const left = new Map<string, FileState>();
	for (const [path, file] of files) {
		const kept = file.draft && isGone(file.draft.call_id) ? { ...file, draft: null } : file;
		if (kept.draft || kept.versions.length) left.set(path, kept);
	}
	return left;
}

/** The files at the end of a run: what was still being written is unfinished. */
export function endDrafts(files: FileMap): FileMap {
	const ended = [...files].map(
		([path, file]) => [path, file.draft ? { ...file, draft: null, unfinished: file.draft } : file] as const,
	);
	return new Map(ended);
}

/** The newest text of a file: what is being written, else its last version, else what was cut off. */
export function textOf({ draft, versions, unfinished }: FileState): string | null {
	return (draft ?? versions.at(-1) ?? unfinished)?.text ?? null;
}

/** How many code points a string has; `length` counts those above U+FFFF twice. */
export function countPoints(text: string): number {
	return [...text].length;
}

/** The first `points` code points of a string. */
export function sliceToPoint(text: string, points: number): string {
	return [...text].slice(0, points).join("");
}

/** The text after a patch. Its hunks name lines of the text before it, so the last one is applied first. */
export function applyPatch(text: string, patch: readonly LinePatch[]): string {
	const lines = text.split("\n");
	for (const [start, count, replacement] of patch.toReversed()) lines.splice(start, count, replacement);
	return lines.join("\n");
}

function isText(mediaType: string): boolean {
	return /^text\/|[/+](json|xml|javascript|x-sh|yaml|toml)\b|^image\/svg/.test(mediaType);
}
