// Checks a page of a run in a separate, invisible frame. This is a separate bundle with the script for that frame, which
// is large: the widget loads it when it is first needed.

import inside from "./page/check/inside.ts?bundle";
import type { CheckInput, FromCheck, Report } from "./page/check/messages.ts";
import { Frame } from "./page/frame.ts";
import { LOSSES, type Loss } from "./page/messages.ts";
import { Resolver } from "./page/resolve.ts";
import type { Mode } from "./page/shell.ts";
import type { PageLink } from "./run/page-link.ts";
import type { CheckMessage } from "./run/protocol.ts";
import type { RunEntry } from "./run/runs.ts";
import { textOf } from "./run/state.ts";

/** Timeout for one page, in milliseconds. */
const MOST = 30_000;
const MOST_MESSAGES = 500;
const MOST_CHARACTERS = 5_900_000;
/** Maximum bytes of a file that the page uses. */
const MOST_FILE = 4_000_000;
const HEIGHT = 844;
/** Invisible, but entirely on screen: browsers do not draw off-screen parts, or report them as visible. */
const UNSEEN = `position:fixed;inset:0 auto auto 0;height:${HEIGHT}px;border:0;opacity:0;z-index:-1;pointer-events:none;transform:scale(.2);transform-origin:0 0`;

type Files = ReadonlyMap<string, { media_type: string } & ({ text: string } | { base64: string })>;
type CheckedPage = Omit<CheckInput, "port">;

export async function look(run: RunEntry, message: CheckMessage): Promise<Report> {
	const { path, widths, selectors = [] } = message;
	const { html, missing } =
		message.html === undefined ? await pageOf(run, message) : { html: message.html, missing: [] };
	const blocked = [...missing].map((address) => ({ address, reason: "there is no such file" }));
	const lists = { screenshots: [], console: [], findings: [], elements: [], notes: [] };
	const report: Report = { ...lists, blocked, overflow: null };
	if (document.hidden) report.notes.push("The notebook is in a hidden tab, where browsers draw little.");
	const { network, connected } = run.state?.meta ?? {};
	const link = connected && message.html === undefined ? run.link(message.variant) : null;
	await inspect({ widths, path, html, selectors }, report, link ?? (network ? "open" : "closed"));
	return limited(report);
}

/** The page with its files inlined, and the names of missing files. */
async function pageOf(run: RunEntry, { variant, path }: CheckMessage) {
	const files = await filesOf(run, variant);
	const page = files.get(path);
	if (!page || !("text" in page)) throw new Error(`There is no page ${path}.`);
	const resolver = new Resolver({ read: (name) => files.get(name) ?? null }, path);
	return { html: resolver.html(page.text), missing: resolver.missing };
}

async function filesOf(run: RunEntry, variant: number): Promise<Files> {
	const files = [...(run.state?.variants.get(variant)?.files.values() ?? [])].filter((file) => !file.deleted);
	const contents = files.map(async (file) => {
		const [text, version] = [textOf(file), file.versions.at(-1)];
		const { media_type } = file;
		if (text !== null) return [file.path, { media_type, text }] as const;
		const small = version && version.size < MOST_FILE;
		const content = small ? await run.file(variant, file.path, version.number) : null;
		return content && ([file.path, { ...content, media_type }] as const);
	});
	return new Map((await Promise.all(contents)).filter((entry) => entry !== null));
}

/** Shows the page and fills the report until the script is done, the page is lost or the timeout expires. */
async function inspect(page: CheckedPage, report: Report, access: PageLink | Mode): Promise<void> {
	const { port1, port2 } = new MessageChannel();
	let end: (note: string) => void = () => {};
	const ended = new Promise<string>((resolve) => {
		end = resolve;
	});
	const timer = setTimeout(() => end(`The check was ended after ${MOST / 1000} s.`), MOST);
	let begun = false;
	const handlers = {
		onReady() {
			// A frame that the browser has reloaded is not filled again.
			if (!begun) begin(frame, page, port2, typeof access === "string" ? null : access);
			begun = true;
		},
		onLost: (why: Loss) => end(LOSSES[why]),
		onBlocked: (tag: string) =>
			add(report, { blocked: [{ address: tag, reason: "the preview does not allow it" }] }),
	};
	const frame: Frame = new Frame(handlers, typeof access === "string" ? access : "bound");
	let messages = 0;
	port1.onmessage = ({ data }: MessageEvent<FromCheck>) => {
		if (++messages > MOST_MESSAGES) end(LOSSES.flooded);
		else if ("part" in data) add(report, data.part);
		else if ("done" in data) end("");
		else if (page.widths.includes(data.width)) frame.element.style.width = `${data.width}px`;
	};
	frame.element.style.cssText = `${UNSEEN};width:${page.widths[0]}px`;
	frame.element.setAttribute("aria-hidden", "true");
	frame.element.tabIndex = -1;
	document.body.append(frame.element);
	const note = await ended;
	clearTimeout(timer);
	port1.close();
	frame.dispose();
	if (note) report.notes.push(note);
}

function begin(frame: Frame, page: CheckedPage, port: MessagePort, link: PageLink | null): void {
	frame.open(link?.connect({ onStatus() {}, onNote() {}, onFlood() {} }, frame.signal));
	void frame.ask("run", { code: inside, given: { ...page, port } satisfies CheckInput });
	frame.write(page.html);
	frame.close();
}

function add(report: Report, part: Partial<Report>): void {
	const fields = report as unknown as Record<string, unknown>;
	for (const [name, value] of Object.entries(part)) {
		const before = fields[name];
		fields[name] = Array.isArray(before) ? before.concat(value) : value;
	}
}

function limited(report: Report): Report {
	if (JSON.stringify(report).length <= MOST_CHARACTERS) return report;
	return { ...report, screenshots: [], notes: ["The screenshots are too large."] };
}
