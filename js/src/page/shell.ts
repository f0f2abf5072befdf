// The initial document of a preview's frame, and the document of a page in a separate tab.

import { output, page } from "../../../agent_nb/pages/policy.json";
import type { Bound } from "../run/bound-messages.ts";
import { gated } from "./gate.ts";
import inside from "./inside.ts?bundle";
import tab from "./tab.ts?bundle";

/** Network access of a page: the files of the stacks, any https address, or none if it is bound or has saved values. */
export type Mode = "closed" | "open" | "bound" | "saved";

const FILL =
	"<style>html,body{margin:0;height:100%}iframe{display:block;border:0;width:100%;height:100%}</style>";

/**
 * The shell is a frame inside a document with the policy, which the frame inherits. A page can always navigate its own
 * frame to another address, and leak data in it; only the document around the frame can forbid that.
 * `secret` lets the widget distinguish the shell from the page that later runs in the same frame.
 */
export function shellDocument(secret: string, mode: Mode): string {
	const frame = around("Page", starter("agentNbSecret", secret, inside), mode);
	// Forwards the focus to the inner page.
	return `${frame}<script>onfocus = () => frames[0].focus()</script>`;
}

/** A page for a separate tab. The tab's document has Jupyter's origin, as every blob does; the frame does not. */
export function tabDocument(title: string, html: string, mode: Mode, bound: Bound | null): string {
	return around(title, starter("agentNbPage", { html: gated(html), bound }, tab), mode);
}

/** A document whose script gets a value under a global name. */
function starter(name: string, value: unknown, script: string): string {
	const json = JSON.stringify(value).replaceAll("<", "\\u003c");
	const safe = script.replaceAll("</script", "<\\/script");
	return `<!doctype html><meta charset="utf-8"><script>"use strict";{const ${name}=${json};${safe}}</script>`;
}

/** A document with only the policy and a frame that inherits it. */
export function around(title: string, html: string, mode: Mode): string {
	const name = escapeHtml(title);
	const frame = `<iframe sandbox="${SANDBOX}" title="${name}" srcdoc="${escapeHtml(html)}"></iframe>`;
	return `<!doctype html><meta charset="utf-8">${POLICIES[mode]}<title>${name}</title>${FILL}${frame}`;
}

function escapeHtml(text: string): string {
	return text
		.replaceAll("&", "&amp;")
		.replaceAll('"', "&quot;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;");
}

type Directives = Record<string, string[]>;

/** Never with `allow-same-origin`: a generated page must not share an origin with Jupyter. */
export const SANDBOX = "allow-scripts allow-forms";

const hostless = Object.entries(page).map(([name, all]) => [name, all.filter((one) => !one.includes("//"))]);
/** For a page that is bound to the notebook: it loads nothing. */
const BOUND_POLICY = meta(Object.fromEntries(hostless));
/** Each must come first in a document's head. */
const POLICIES: Record<Mode, string> = {
	closed: meta(page),
	/** For a run with `--network`: any https address, but still no frames, forms or navigation. */
	open: meta({ ...page, ...opened() }),
	bound: BOUND_POLICY,
	saved: BOUND_POLICY,
};
/** The policy for the HTML of a tool, which runs only scripts with this nonce. */
export function outputPolicy(nonce: string): string {
	return meta({ ...output, "script-src": [`'nonce-${nonce}'`] });
}

function opened(): Directives {
	const kinds = ["script-src", "style-src", "img-src", "font-src", "media-src"] as const;
	const wide = kinds.map((kind) => [kind, [...page[kind], "https:"]]);
	return { ...Object.fromEntries(wide), "connect-src": ["data:", "blob:", "https:"] };
}

function meta(directives: Directives): string {
	const policy = Object.entries(directives).map(([name, sources]) => [name, ...sources].join(" "));
	return `<meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}"><meta http-equiv="x-dns-prefetch-control" content="off">`;
}
