// A notebook in which agents are switched off, by its metadata or by a lab file: it has none of our buttons and commands.

import type { App, Contents, NotebookPanel, Tracker } from "./jupyter.ts";

/** The class of such a notebook's panel. */
const OFF = "agent-nb-off";
const LAB_FILE = "lab.toml";
const MODE_OFF = /^[ \t]*mode[ \t]*=[ \t]*(?:"off"|'off')/m;

export function isOff({ node }: NotebookPanel): boolean {
	return node.classList.contains(OFF);
}

/** Marks notebooks that are switched off, also when their metadata changes. The lab file is read when one is opened. */
export function markOff(app: App, tracker: Tracker): void {
	tracker.widgetAdded.connect(async (_, { node, context }) => {
		await context.ready;
		let byLab = false;
		const mark = (): void => {
			const { off } = (context.model.getMetadata("agent_nb") ?? {}) as { off?: unknown };
			node.classList.toggle(OFF, byLab || off === true);
		};
		context.model.metadataChanged.connect(mark);
		mark();
		byLab = await isOffByLab(app.serviceManager.contents, context.path).catch(() => false);
		mark();
	});
}

/** Whether the nearest lab file, beside the notebook or above it, switches agents off. */
async function isOffByLab(contents: Contents, path: string): Promise<boolean> {
	const [, drive = "", local = ""] = /^([^/:]*:)?(.*)$/s.exec(path) ?? [];
	const folders = local.split("/").slice(0, -1);
	for (;;) {
		// The folder is listed first: a request for a file that does not exist is an error in the logs.
		const { content } = await contents.get(drive + folders.join("/"));
		if (Array.isArray(content) && content.some(({ name }) => name === LAB_FILE)) {
			const file = await contents.get(drive + [...folders, LAB_FILE].join("/"));
			return MODE_OFF.test(String(file.content));
		}
		if (folders.pop() === undefined) return false;
	}
}
