// Saves a file with the browser's own download.

/** Milliseconds that the address of a file is kept: browsers read it some time after the click. */
export const KEEP_URL = 60_000;

export function saveFile(name: string, data: BlobPart): void {
	// An octet stream is always saved: shown as a page, the file would run in Jupyter's origin.
	const url = URL.createObjectURL(new Blob([data], { type: "application/octet-stream" }));
	const link = document.createElement("a");
	link.href = url;
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(url), KEEP_URL);
}
