// Small images of the versions, above the version slider while it has the pointer or the focus. One is taken when it is
// first asked for, in a frame that nobody sees, unless the model has looked at the page as it was then.

import { currentState, isOpen, pageOf } from "../../actions.ts";
import type * as Check from "../../check/look.ts";
import { h, listen, setAttribute, setText } from "../../dom.ts";
import { loadModule } from "../../loading.ts";
import type { Page } from "../../preview/feed.ts";
import { Frame } from "../../preview/frame.ts";
import { Resolver } from "../../preview/resolve.ts";
import type { RunEntry } from "../../runs.ts";
import { shownPage } from "../../shown.ts";
import type { Context } from "../context.ts";
import { CHECK_TYPE, type Check as Found } from "../transcript/page-check.ts";

const MOST_KEPT = 20;
/** Milliseconds for which a version must be pointed at before its image is taken. */
const DWELL = 150;

/** The images of each run by page and change; empty where none could be taken. */
const kept = new WeakMap<RunEntry, Map<string, string>>();

export interface Version {
	readonly change: number;
	readonly label: string;
}

export function createThumbnails(
	context: Context,
	range: HTMLInputElement,
	versionAt: (index: number) => Version | null,
): HTMLElement {
	const image = h("img");
	const caption = h("figcaption", { class: "num" });
	const element = h("figure", { class: "anb-version", hidden: true }, image, caption);
	let version: Version | null = null;
	let timer: ReturnType<typeof setTimeout> | undefined;

	function show(index: number | null): void {
		version = index === null ? null : versionAt(index);
		clearTimeout(timer);
		draw();
		if (version) timer = setTimeout(() => take(context, () => version, draw), DWELL);
	}
	function draw(): void {
		element.hidden = !version;
		if (!version) return;
		const address = findThumbnail(context, version) ?? "";
		image.hidden = !address;
		setAttribute(image, "src", address);
		setAttribute(image, "alt", `The page, ${version.label}`);
		setText(caption, version.label);
	}
	const current = (): number => Number(range.value) - 1;
	const focused = (): number | null => (range.matches(":focus-visible") ? current() : null);
	listen(range, "pointermove", context.signal, (event) => show(indexAt(range, event)));
	listen(range, "input", context.signal, () => show(current()));
	for (const name of ["pointerleave", "focus", "blur"] as const)
		listen(range, name, context.signal, () => show(focused()));
	listen(range, "keydown", context.signal, (event) => {
		if (event.key !== "Escape" || element.hidden) return;
		event.stopPropagation();
		show(null);
	});
	return element;
}

function indexAt(range: HTMLInputElement, { clientX }: PointerEvent): number {
	const { left, width } = range.getBoundingClientRect();
	const share = Math.min(1, Math.max(0, (clientX - left) / (width || 1)));
	return Math.round(share * (Number(range.max) - 1));
}

/** The image of a version, if there is one: that of a check, or one that was taken before. */
function findThumbnail(context: Context, { change }: Version): string | undefined {
	const page = pageAt(context, change);
	for (const row of currentState(context).rows) {
		if (row.kind !== "tool" || row.changes !== change) continue;
		const check = row.outputs.map((bundle) => bundle[CHECK_TYPE] as unknown as Found).find(Boolean);
		const small = check?.path === page?.path && check?.screenshots.at(-1)?.thumbnail;
		if (small) return `data:image/jpeg;base64,${small}`;
	}
	return kept.get(context.run)?.get(keyOf(context, change));
}

/** The page as it was after a change. */
function pageAt(context: Context, moment: number): Page | null {
	const then: Context = { ...context, choices: { ...context.choices, moment } };
	const shown = shownPage(currentState(then), then.choices);
	return shown && pageOf(then, shown);
}

function keyOf({ run, choices }: Context, change: number): string {
	return `${choices.variant} ${choices.file} ${change} ${run.loads}`;
}

let taking = false;

/** Takes the image of the version that is wanted when its turn has come: one at a time, and none during a run. */
async function take(context: Context, wanted: () => Version | null, done: () => void): Promise<void> {
	const version = wanted();
	if (!version || taking || context.run.busy || findThumbnail(context, version) !== undefined) return;
	taking = true;
	const address = await capture(context, version.change).catch(() => "");
	taking = false;
	const images = kept.get(context.run) ?? new Map<string, string>();
	kept.set(context.run, images.set(keyOf(context, version.change), address));
	for (const oldest of [...images.keys()].slice(0, -MOST_KEPT)) images.delete(oldest);
	done();
	if (wanted() !== version) void take(context, wanted, done);
}

async function capture(context: Context, change: number): Promise<string> {
	const page = pageAt(context, change);
	if (!page) return "";
	const html = new Resolver(page.source, page.path).html(page.text);
	const { takeThumbnail } = await loadModule<typeof Check>(context.run, "check");
	return takeThumbnail(Frame, { path: page.path, html }, isOpen(context));
}
