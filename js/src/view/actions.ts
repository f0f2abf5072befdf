// Copying, opening in a tab, and saving files.

import { downloadZip } from "client-zip";
import { copyText, KEEP_URL, saveFile } from "../base/clipboard.ts";
import { type Page, resolved } from "../page/feed.ts";
import type { Source } from "../page/resolve.ts";
import { type Mode, tabDocument } from "../page/shell.ts";
import type { Bound } from "../run/bound-messages.ts";
import { EMPTY, type FileState, textOf, type VariantState } from "../run/state.ts";
import type { Context } from "./context.ts";
import { fileAt, isPage, presentFiles, type ShownFile, shownFile, shownPage } from "./shown.ts";

const MOST_PREFETCHED = 4_000_000;
/** The earliest date that zip supports, so that archives are reproducible. */
const ARCHIVED = new Date(1980, 0, 1);
const ALONE =
	"<style>body{margin:0;min-height:100vh;display:grid;place-items:center}img{max-width:100%;max-height:100vh}</style>";

/** The state of the visible variant: the newest, or the one at the replay's position. */
export function currentState(context: Pick<Context, "run" | "choices">): VariantState {
	const { replay, variant } = context.choices;
	if (replay && replay.tape === context.run.tape(variant) && replay.count < replay.tape.length)
		return replay.tape.stateAt(replay.count);
	return context.run.state?.variants.get(variant) ?? EMPTY;
}

export function copy(context: Context): void {
	const text = shownFile(currentState(context), context.choices)?.text;
	if (text !== null && text !== undefined) void copyText(context, text);
}

/** Network access of the run's pages, in the preview or in a tab. A replay is never open or bound. */
export function modeOf({ run, choices }: Context): Mode {
	const { network, bound = [], connected } = run.state?.meta ?? {};
	if (bound.length) return connected && !choices.replay ? "bound" : "saved";
	return !choices.replay && network ? "open" : "closed";
}

/** The saved values for a page without a kernel; null if it is not bound. */
export function savedBound({ run, choices }: Context): Bound | null {
	const { bound = [] } = run.state?.meta ?? {};
	const saved = run.saved[choices.variant] ?? {};
	return bound.length ? (run.link(choices.variant)?.snapshot ?? { names: bound, port: null, saved }) : null;
}

/** Opens the visible page or image in a new tab, sandboxed. */
export function openInTab(context: Context): void {
	const shown = shownPage(currentState(context), context.choices);
	if (!shown || (shown.text === null && isPage(shown.file.path))) return;
	const html = resolved({ ...pageOf(context, shown), live: false });
	const tab = tabDocument(shown.file.path, html, modeOf(context), savedBound(context));
	const url = URL.createObjectURL(new Blob([tab], { type: "text/html" }));
	window.open(url, "_blank", "noopener");
	setTimeout(() => URL.revokeObjectURL(url), KEEP_URL);
}

export async function download(context: Context, file: FileState): Promise<void> {
	const data = await contentOf(context, file);
	if (data) saveFile(file.path.split("/").at(-1) ?? "file", data);
}

/** Saves a single file directly, several as a zip archive. */
export async function downloadAll(context: Context): Promise<void> {
	const files = presentFiles(currentState(context));
	const [only] = files;
	if (only && files.length === 1) return download(context, only);
	const contents = await Promise.all(
		files.map(async (file) => ({ name: file.path, input: await contentOf(context, file) })),
	);
	const entries = contents.flatMap(({ name, input }) =>
		input ? [{ name, input, lastModified: ARCHIVED }] : [],
	);
	saveFile(`${context.run.state?.meta.name ?? "files"}.zip`, await downloadZip(entries).blob());
}

async function contentOf(context: Context, file: FileState): Promise<Uint8Array<ArrayBuffer> | null> {
	const version = file.versions.at(-1);
	const text = textOf(file);
	const content =
		text === null && version
			? await context.run.file(context.choices.variant, file.path, version.number)
			: { text: text ?? "" };
	if (!content) return null;
	if ("text" in content) return new TextEncoder().encode(content.text);
	return Uint8Array.from(atob(content.base64), (char) => char.charCodeAt(0));
}

/** Converts a file to a page for the preview. An image is wrapped in a page. */
export function pageOf(context: Context, shown: ShownFile): Page {
	const page = {
		key: `${context.choices.variant} ${shown.file.path}`,
		path: shown.file.path,
		text: shown.text ?? "",
		epoch: shown.epoch,
		live: shown.live,
		source: sourceOf(context),
		stamp: stampOf(context, shown),
	};
	if (isPage(shown.file.path)) return page;
	const name = encodeURIComponent(shown.file.path.split("/").at(-1) ?? "");
	return { ...page, text: `${ALONE}<img src="${name}" alt="">`, live: false, epoch: null };
}

function stampOf(context: Context, shown: ShownFile): string {
	const versions = [...currentState(context).files.values()].map(
		(file) => `${file.path}@${file.versions.length}`,
	);
	return `${shown.version?.number} ${context.choices.moment} ${context.run.loads} ${versions.join(" ")}`;
}

/** Reads files as they are now, or as they were at the chosen moment. */
function sourceOf(context: Context): Source {
	return {
		read(path) {
			const file = currentState(context).files.get(path);
			const shown = file && fileAt(file, context.choices.moment);
			return shown ? readFile(context, file, shown.text, shown.version ?? undefined) : null;
		},
	};
}

/** Returns a file's content if it is loaded, else null, and requests it from the kernel. */
function readFile(
	context: Context,
	file: FileState,
	text: string | null,
	version = file.versions.at(-1),
): ReturnType<Source["read"]> {
	const media_type = file.media_type || guessType(file.path);
	if (text !== null) return { media_type, text };
	const content = version ? context.run.content(context.choices.variant, file.path, version.number) : null;
	return content && { ...content, media_type: content.media_type ?? media_type };
}

/** Requests images as soon as they exist, so that pages do not have to wait for them. */
export function prefetch(context: Context): void {
	for (const file of currentState(context).files.values()) {
		const small = (file.versions.at(-1)?.size ?? 0) < MOST_PREFETCHED;
		if (small && !file.deleted) readFile(context, file, textOf(file));
	}
}

/** The media type of a file that is still being written. */
function guessType(path: string): string {
	if (path.endsWith(".css")) return "text/css";
	return /\.m?js$/.test(path) ? "text/javascript" : "text/plain";
}
