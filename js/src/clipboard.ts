// The clipboard, also where the browser has only the old way to it, and downloads.

/** Copies a text; resolves to false where the browser does not allow it. */
export async function toClipboard(text: string): Promise<boolean> {
	// Over plain http there is no clipboard API, only the old command.
	if (!navigator.clipboard) return copyByCommand(text);
	return navigator.clipboard.writeText(text).then(
		() => true,
		() => false,
	);
}

/** Copies a text and says whether that worked. */
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

/** Milliseconds that the address of a file is kept: browsers read it some time after the click. */
export const KEEP_URL = 60_000;

/** Saves a file with the browser's own download. */
export function saveFile(name: string, data: BlobPart): void {
	// An octet stream is always saved: shown as a page, the file would run in Jupyter's origin.
	const url = URL.createObjectURL(new Blob([data], { type: "application/octet-stream" }));
	const link = document.createElement("a");
	link.href = url;
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(url), KEEP_URL);
}
