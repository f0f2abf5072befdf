// The clipboard, also where the browser has only the old way to it.

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
