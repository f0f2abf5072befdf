// Several files as one archive. This is a module of its own, which the widget loads when it is first needed.

import { downloadZip } from "client-zip";

/** The first day of the zip format, so that an archive depends only on its files. */
const DATE = new Date(1980, 0, 1);

export interface Packed {
	readonly name: string;
	readonly input: Uint8Array<ArrayBuffer>;
}

export function zip(files: readonly Packed[]): Promise<Blob> {
	return downloadZip(files.map((file) => ({ ...file, lastModified: DATE }))).blob();
}
