// The clipboard, with a fallback for plain http, and downloads.

import { h } from "./dom.ts";

/** Copies a text; resolves to false where the browser does not allow it. */
export async function toClipboard(text: string): Promise<boolean> {
	// Over plain http there is no clipboard API, only the deprecated command.
	if (!navigator.clipboard) return copyByCommand(text);
	return navigator.clipboard.writeText(text).then(
		() => true,
		() => false,
	);
}

/** Copies a text and announces whether it worked. */
export async function copyText(context: { notify(text: string): void }, text: string): Promise<void> {
	context.notify((await toClipboard(text)) ? "Copied" : "The browser did not allow copying");
}

function copyByCommand(text: string): boolean {
	let copied = false;
	const fill = (event: ClipboardEvent): void => {
		event.clipboardData?.setData("text/plain", text);
		event.preventDefault();
		event.stopImmediatePropagation();
		copied = event.clipboardData !== null;
	};
	document.addEventListener("copy", fill, { capture: true });
	document.execCommand("copy");
	document.removeEventListener("copy", fill, { capture: true });
	return copied;
}

/** Milliseconds before an object URL is revoked: browsers read it some time after the click. */
export const KEEP_URL = 60_000;

export function saveFile(name: string, data: BlobPart): void {
	// Browsers always save an octet stream. Opened as a page, the file would run in Jupyter's origin.
	const url = URL.createObjectURL(new Blob([data], { type: "application/octet-stream" }));
	h("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), KEEP_URL);
}
