// The document a preview's frame starts with, and the document that opens a page in a tab of its own.

import inside from "./inside.ts?bundle";

/** Never with `allow-same-origin`: a generated page must not share an origin with Jupyter. */
export const SANDBOX = "allow-scripts allow-forms";

const ASSETS = "https: data: blob:";

/** Pages may load https assets; they may not connect, post, frame, or change their base. */
export const POLICY = [
	"default-src 'none'",
	`script-src 'unsafe-inline' 'unsafe-eval' ${ASSETS}`,
	`style-src 'unsafe-inline' ${ASSETS}`,
	`img-src ${ASSETS}`,
	`font-src ${ASSETS}`,
	`media-src ${ASSETS}`,
	"connect-src 'none'",
	"form-action 'none'",
	"frame-src 'none'",
	"worker-src 'none'",
	"object-src 'none'",
	"base-uri 'none'",
].join("; ");

const POLICY_META = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;

/** `secret` lets the widget tell the shell from the page that runs in the same frame later. */
export function shellDocument(secret: string): string {
	const script = inside.replaceAll("</script", "<\\/script");
	return `<!doctype html><meta charset="utf-8">${POLICY_META}<script>"use strict";{const agentNbSecret="${secret}";${script}}</script>`;
}

/**
 * A page for a tab of its own. The tab's document shares Jupyter's origin (a blob always does), so it holds
 * nothing but a sandboxed frame; the generated page lives in there.
 */
export function tabDocument(title: string, html: string): string {
	return `<!doctype html><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>html,body{margin:0;height:100%}iframe{display:block;border:0;width:100%;height:100%}</style>
<iframe sandbox="${SANDBOX}" title="${escapeHtml(title)}" srcdoc="${escapeHtml(POLICY_META + html)}"></iframe>`;
}

export function escapeHtml(text: string): string {
	return text
		.replaceAll("&", "&amp;")
		.replaceAll('"', "&quot;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;");
}
