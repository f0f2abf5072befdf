// Builds ES modules into ../agent_nb/static: widget.js, with its styles inside; check.js, which looks at pages for the
// model and is loaded when it is first needed; replay.js, the script of a replay in a file of its own; headless.js,
// which the kernel runs in headless Chromium; page.js, the widget of a page alone; and notebook.js, for bound pages. lab/ in there is a prebuilt extension of JupyterLab.
//   node build.mjs            once        node build.mjs --watch      again on every change
//   node build.mjs --dev      watch, and serve the dev page, which plays recorded runs with no kernel

import { copyFile, mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { esbuildText, LEAN } from "./bundling.mjs";

const STATIC = "../agent_nb/static";
const OUTPUT = `${STATIC}/widget.js`;
const LIMIT = 124 * 1024;
/** Of the widget that shows a page alone. */
const PAGE_LIMIT = 18 * 1024;
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

/** What looks at a page for the model, which the page loads when it is first needed, and the script of a replay file. */
const FURTHER = { check: "src/page-check.ts", replay: "src/replay-file.ts", page: "src/bound-page.ts" };
const further = Object.entries(FURTHER).map(([name, entry]) => ({
	...options,
	entryPoints: [entry],
	outfile: `${STATIC}/${name}.js`,
}));
/** What headless Chromium runs in a page. */
const headless = {
	...options,
	entryPoints: ["src/headless.ts"],
	outfile: `${STATIC}/headless.js`,
	format: "iife",
	globalName: "headless",
};
const lab = { ...headless, entryPoints: ["lab/extension.ts"], outfile: `${STATIC}/lab/static/extension.js` };
/** What defines `notebook` in a page that the kernel has put into its frame. */
const notebook = {
	...headless,
	globalName: undefined,
	entryPoints: ["src/standalone.ts"],
	outfile: `${STATIC}/notebook.js`,
};
/** The files of the extension that are not built. The server finds the schema of preferences by the plugin's id. */
const COPIED = {
	"package.json": "package.json",
	"install.json": "install.json",
	"preferences.json": "schemas/agent-nb/cells.json",
};
const all = [options, ...further, headless, lab, notebook];

async function checkSize(file, limit) {
	const size = gzipSync(await readFile(file)).length;
	console.log(`${file}: ${(size / 1024).toFixed(1)} KB gzipped`);
	if (size > limit) throw new Error(`${file} is over ${limit / 1024} KB gzipped`);
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
	await mkdir(`${STATIC}/lab/schemas/agent-nb`, { recursive: true });
	for (const [name, target] of Object.entries(COPIED))
		await copyFile(`lab/${name}`, `${STATIC}/lab/${target}`);
	await checkSize(OUTPUT, LIMIT);
	await checkSize(`${STATIC}/page.js`, PAGE_LIMIT);
}
