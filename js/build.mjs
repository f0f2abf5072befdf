// Builds ../agent_nb/static/widget.js: one ES module with its styles inside.
//   node build.mjs            once        node build.mjs --watch      again on every change
//   node build.mjs --dev      watch, and serve the dev page, which plays recorded runs with no kernel

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { esbuildText } from "./bundling.mjs";

const OUTPUT = "../agent_nb/static/widget.js";
const LIMIT = 80 * 1024;
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
	logLevel: "info",
};

async function checkSize() {
	const size = gzipSync(await readFile(OUTPUT)).length;
	console.log(`${OUTPUT}: ${(size / 1024).toFixed(1)} KB gzipped`);
	if (size > LIMIT) throw new Error(`the bundle is over ${LIMIT / 1024} KB gzipped`);
}

function serveDevPage() {
	const server = createServer(async (request, response) => {
		const path = normalize(new URL(request.url, "http://localhost").pathname);
		const file = path === "/widget.js" ? OUTPUT : join("dev", path === "/" ? "index.html" : path);
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
	const context = await esbuild.context(options);
	await context.watch();
	if (process.argv.includes("--dev")) serveDevPage();
} else {
	await esbuild.build(options);
	await checkSize();
}
