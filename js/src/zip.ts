// A zip archive of stored (not compressed) files, to save all files of a run at once.

export interface Entry {
	path: string;
	data: Uint8Array;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
	let value = byte;
	for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
	return value;
});

export function crc32(data: Uint8Array): number {
	let crc = 0xffffffff;
	for (const byte of data) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
	return (crc ^ 0xffffffff) >>> 0;
}

const UTF8_NAMES = 0x0800;
/** 1 January 1980, the first day of the format, so that an archive depends only on its files. */
const DATE = 0x21;

export function zip(entries: readonly Entry[]): Uint8Array {
	const parts: Uint8Array[] = [];
	const directory: Uint8Array[] = [];
	let offset = 0;
	for (const { path, data } of entries) {
		const name = new TextEncoder().encode(path);
		const facts = [0x14, UTF8_NAMES, 0, 0, DATE, crc32(data), data.length, data.length, name.length, 0];
		const local = record([0x04034b50, ...facts], "LHHHHHLLLHH");
		const central = record([0x02014b50, 0x14, ...facts, 0, 0, 0, 0, offset], "LHHHHHHLLLHHHHHLL");
		parts.push(local, name, data);
		directory.push(central, name);
		offset += local.length + name.length + data.length;
	}
	const size = directory.reduce((sum, part) => sum + part.length, 0);
	const end = record([0x06054b50, 0, 0, entries.length, entries.length, size, offset, 0], "LHHHHLLH");
	return concat([...parts, ...directory, end]);
}

function record(values: number[], layout: string): Uint8Array {
	const sizes = [...layout].map((kind) => (kind === "L" ? 4 : 2));
	const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
	const view = new DataView(bytes.buffer);
	let at = 0;
	sizes.forEach((size, index) => {
		const value = values[index] ?? 0;
		if (size === 4) view.setUint32(at, value, true);
		else view.setUint16(at, value, true);
		at += size;
	});
	return bytes;
}

function concat(parts: Uint8Array[]): Uint8Array {
	const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
	let at = 0;
	for (const part of parts) {
		whole.set(part, at);
		at += part.length;
	}
	return whole;
}
