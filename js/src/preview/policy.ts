// The Content Security Policy of generated pages. `policy.json` holds it for the widget and for saved pages;
// `agent_nb/render/policy.py` says why it names single files.

import { output, page } from "../../../agent_nb/render/policy.json";

type Directives = Record<string, string[]>;

/** Never with `allow-same-origin`: a generated page must not share an origin with Jupyter. */
export const SANDBOX = "allow-scripts allow-forms";

/** Must come first in a document's head. */
export const PAGE_POLICY = meta(page);
/** The same for a run with `--network`: any https address, but no frames, forms or navigation either. */
export const NETWORK_POLICY = meta({ ...page, ...opened() });
/** For the HTML of a tool, which runs no scripts but those with this number. */
export function outputPolicy(nonce: string): string {
	return meta({ ...output, "script-src": [`'nonce-${nonce}'`] });
}

function opened(): Directives {
	const {
		"script-src": script,
		"style-src": style,
		"img-src": img,
		"font-src": font,
		"media-src": media,
	} = page;
	const wide = Object.entries({ script, style, img, font, media, connect: ["data:", "blob:"] });
	return Object.fromEntries(wide.map(([kind, sources]) => [`${kind}-src`, [...sources, "https:"]]));
}

function meta(directives: Directives): string {
	const policy = Object.entries(directives).map(([name, sources]) => [name, ...sources].join(" "));
	return `<meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}"><meta http-equiv="x-dns-prefetch-control" content="off">`;
}
