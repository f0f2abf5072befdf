// Notebooks that are switched off: by their metadata, also while they are open, or by the nearest lab file.

import { expect, test, vi } from "vitest";
import { isOff, markOff } from "../lab/off.ts";

/** Opens a notebook on a server with these lab files, and returns whether it is off now. */
async function open(path: string, files: Record<string, string>, metadata: { agent_nb?: unknown } = {}) {
	const opened: ((sender: null, panel: never) => Promise<void>)[] = [];
	const changed: (() => void)[] = [];
	const get = vi.fn(async (asked: string) => {
		if (asked in files) return { content: files[asked] };
		const folder = asked && !asked.endsWith(":") ? `${asked}/` : asked;
		return { content: `${folder}lab.toml` in files ? [{ name: "lab.toml" }] : [{ name: "a.ipynb" }] };
	});
	const model = {
		getMetadata: () => metadata.agent_nb,
		metadataChanged: { connect: (listener: () => void) => changed.push(listener) },
	};
	const panel = { node: document.createElement("div"), context: { path, model, ready: Promise.resolve() } };
	const tracker = { widgetAdded: { connect: (listener: never) => opened.push(listener) } };
	markOff({ serviceManager: { contents: { get } } } as never, tracker as never);
	await opened[0]?.(null, panel as never);
	return { isOff: () => isOff(panel as never), change: () => changed[0]?.() };
}

const OFF = '[lab]\ntitle = "A"\n mode = "off" # exam';
const FULL = '[lab]\n# mode = "off"\nmode = "full"';

test.each([
	["week/a.ipynb", {}, false],
	["week/a.ipynb", { "week/lab.toml": OFF }, true],
	["week/a.ipynb", { "lab.toml": OFF }, true],
	["a.ipynb", { "lab.toml": OFF.replaceAll('"', "'") }, true],
	["week/a.ipynb", { "week/lab.toml": FULL, "lab.toml": OFF }, false],
	["other/a.ipynb", { "week/lab.toml": OFF }, false],
	["RTC:a.ipynb", { "RTC:lab.toml": OFF }, true],
	["RTC:week/a.ipynb", { "RTC:lab.toml": OFF }, true],
])("%s with %j", async (path, files, expected) => {
	expect((await open(path, files as Record<string, string>)).isOff()).toBe(expected);
});

test("the metadata switch a notebook off and on while it is open", async () => {
	const metadata: { agent_nb?: unknown } = { agent_nb: { off: true } };
	const notebook = await open("a.ipynb", {}, metadata);
	expect(notebook.isOff()).toBe(true);
	for (const value of [{ off: "true" }, { off: false }, "off", null, undefined]) {
		metadata.agent_nb = value;
		notebook.change();
		expect(notebook.isOff()).toBe(false);
	}
});
