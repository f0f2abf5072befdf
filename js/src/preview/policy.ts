// The Content Security Policy of generated pages. `policy.json` holds it for the widget and for saved pages;
// `agent_nb/render/policy.py` says why it names single files.

import policies from "../../../agent_nb/render/policy.json";

/** Never with `allow-same-origin`: a generated page must not share an origin with Jupyter. */
export const SANDBOX = "allow-scripts allow-forms";

/** Goes before anything else in a document's head. */
export const PAGE_POLICY = meta(policies.page);
/** For the HTML of a tool, which runs no scripts. */
export const OUTPUT_POLICY = meta(policies.output);

function meta(directives: Record<string, string[]>): string {
	const policy = Object.entries(directives).map(([name, sources]) => [name, ...sources].join(" "));
	return `<meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}"><meta http-equiv="x-dns-prefetch-control" content="off">`;
}
