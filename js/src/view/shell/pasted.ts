// Images that the user pastes into the field below a run, or drops on it. The kernel saves each beside the notebook, and
// the next cell names it.

import { h, listen, moveFocus, setChildren } from "../../base/dom.ts";
import { type PastedImage, repeatsOf } from "../../run/ask.ts";
import { isImage } from "../../run/cell-source.ts";
import type { Context } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";

/** As `images/pasted.py` in the kernel has it. */
const MOST_BYTES = 5_000_000;
const WITHOUT_VALUES = "--data schema";

/** Takes images that arrive at `place`; the returned function lists them. */
export function createPasted(
	context: Context,
	list: HTMLElement,
	place: HTMLElement,
	field: HTMLElement,
): () => void {
	const { choices, signal } = context;

	function take(event: Event, transfer: DataTransfer | null): void {
		// Office programs put a picture of copied text beside the text.
		const files = transfer?.types.includes("text/plain") ? [] : [...(transfer?.files ?? [])];
		const images = files.filter(({ type }) => type.startsWith("image/"));
		if (!event.isTrusted || !images.length || !offersImages(context)) return;
		event.preventDefault();
		for (const image of images) void paste(context, image);
	}

	listen(place, "paste", signal, (event) => take(event, event.clipboardData));
	listen(place, "drop", signal, (event) => take(event, event.dataTransfer));
	listen(place, "dragover", signal, (event) => {
		// Otherwise the browser opens the file instead of the notebook.
		if (event.dataTransfer?.types.includes("Files") && offersImages(context)) event.preventDefault();
	});
	return () => {
		const { images = [] } = choices.ask;
		const create = () => images.map((image) => createChip(context, image, field));
		setChildren(list, JSON.stringify(images), create);
	};
}

/** Whether the kernel of this notebook has made the run, and its next cell can be written. */
function offersImages({ run, choices }: Context): boolean {
	const { meta, lost } = run.state ?? {};
	const isOwn = meta?.reviewable && meta.magic && !lost && run.greeted;
	return Boolean(isOwn) && !choices.replay && !run.notebook?.model.readOnly;
}

async function paste(context: Context, file: File): Promise<void> {
	const { run, choices, notify, redraw } = context;
	const { ask } = choices;
	if (repeatsOf(run, ask).includes(WITHOUT_VALUES)) {
		notify(`No image is sent with ${WITHOUT_VALUES}`);
		return;
	}
	if (file.size > MOST_BYTES) {
		notify(`The image is larger than ${MOST_BYTES / 1e6} MB; scale it down first.`);
		return;
	}
	const image: PastedImage = { path: "", thumbnail: "" };
	ask.images = [...(ask.images ?? []), image];
	redraw();
	const data = await base64Of(file);
	const answer = await run.command("paste_image", { data });
	if (answer.ok && isImage(answer.path)) {
		Object.assign(image, { path: answer.path, thumbnail: String(answer.thumbnail) });
		if (!ask.images.includes(image)) notify(leftOut(image));
	} else {
		ask.images = ask.images.filter((other) => other !== image);
		notify(answer.ok ? "The kernel did not say where the image is." : answer.error);
	}
	redraw();
}

/** The content of a file; empty if it cannot be read. */
function base64Of(file: File): Promise<string> {
	return new Promise((resolve) => {
		const reader = new FileReader();
		reader.onloadend = () => resolve(String(reader.result ?? "").replace(/^[^,]*,/, ""));
		reader.readAsDataURL(file);
	});
}

function leftOut({ path }: PastedImage): string {
	return `Left out; the file ${path} stays`;
}

function createChip(context: Context, image: PastedImage, field: HTMLElement): HTMLElement {
	const { path, thumbnail } = image;
	const remove = iconButton("cross", `Leave out ${path || "the image"}`, () => {
		const { ask } = context.choices;
		ask.images = (ask.images ?? []).filter((other) => other !== image);
		if (path) context.notify(leftOut(image));
		moveFocus(field);
		context.redraw();
	});
	const picture = thumbnail && h("img", { src: `data:image/jpeg;base64,${thumbnail}`, alt: "" });
	return h("li", { title: path }, picture || null, path ? h("code", null, path) : "Saving…", remove);
}
