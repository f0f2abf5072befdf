// Builds ES modules into ../agent_nb/static: widget.js, with its styles inside, and those that are loaded when they are
// first needed (`module` in docs/widget-protocol.md says what each is for). replay.js is the script of a replay in a
// file of its own. headless.js is what the kernel runs in headless Chromium.
//   node build.mjs            once        node build.mjs --watch      again on every change
//   node build.mjs --dev      watch, and serve the dev page, which plays recorded runs with no kernel

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { esbuildText, LEAN } from "./bundling.mjs";

const STATIC = "../agent_nb/static";
const OUTPUT = `${STATIC}/widget.js`;
const LIMIT = 76 * 1024;
const PORT = 8765;
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".json": "application/json" };

const options = {
	entryPoints: ["src/widget.ts"],
	outfile: OUTPUT,
	bundle: true,
	minify: true,
	format: "esm",
	target: "es2022",
	legalComments: "none",
	charset: "utf8",
	plugins: [esbuildText],
	alias: LEAN,
	logLevel: "info",
};

/** Modules that the page loads when it first needs them, and the script of a replay file. */
const FURTHER = {
	approval: "src/view/transcript/approval.ts",
	annotations: "src/annotations/annotations.ts",
	check: "src/check/look.ts",
	form: "src/form/form.ts",
	frames: "src/far-frames.ts",
	inspect: "src/inspect/inspector.ts",
	morph: "src/preview/morph.ts",
	outputs: "src/view/transcript/rich-outputs.ts",
	reminder: "src/view/transcript/reminder.ts",
	request: "src/view/transcript/request.ts",
	scrubber: "src/view/replay/scrubber.ts",
	replay: "src/replay-file.ts",
	variants: "src/view/variants/all-variants.ts",
	zip: "src/zip.ts",
};
const further = Object.entries(FURTHER).map(([name, entry]) => ({
	...options,
	entryPoints: [entry],
	outfile: `${STATIC}/${name}.js`,
}));
/** What headless Chromium runs in a page. */
const headless = {
	...options,
	entryPoints: ["src/check/headless.ts"],
	outfile: `${STATIC}/headless.js`,
	format: "iife",
	globalName: "headless",
};
const all = [options, ...further, headless];

async function checkSize() {
	const size = gzipSync(await readFile(OUTPUT)).length;
	console.log(`${OUTPUT}: ${(size / 1024).toFixed(1)} KB gzipped`);
	if (size > LIMIT) throw new Error(`the bundle is over ${LIMIT / 1024} KB gzipped`);
}

function serveDevPage() {
	const server = createServer(async (request, response) => {
		const path = normalize(new URL(request.url, "http://localhost").pathname);
		const built = all.some(({ outfile }) => outfile === STATIC + path);
		const file = built ? STATIC + path : join("dev", path === "/" ? "index.html" : path);
		try {
			const body = await readFile(file);
			response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
			response.end(body);
		} catch {
			response.writeHead(404).end("not found");
		}
	});
	server.listen(PORT, "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}/`));
}

if (process.argv.includes("--dev") || process.argv.includes("--watch")) {
	for (const each of all) await (await esbuild.context(each)).watch();
	if (process.argv.includes("--dev")) serveDevPage();
} else {
	await Promise.all(all.map((each) => esbuild.build(each)));
	await checkSize();
}
