// Checks that no module in src/ imports from a layer above its own. Biome refuses circles between files.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";

/** From the top. A file imports from its own layer and those below it. `/*` is a folder without the folders in it. */
export const LAYERS = [
	"lab",
	"src/*", // the entry points of bundles
	"src/host",
	"src/features",
	"src/view/shell",
	"src/view/variants",
	"src/view/result",
	"src/view/transcript",
	"src/view/replay",
	"src/view/inspect",
	"src/view/shared",
	"src/view/styles",
	"src/view/*",
	"src/page/check",
	"src/page/inspect",
	"src/page/*",
	"src/run",
	"src/base",
];
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.[^"?]+)/g;

/** The index of a file's layer; -1 if it is in none. */
function layerOf(path) {
	const folder = dirname(path);
	return LAYERS.findIndex((name) =>
		name.endsWith("/*") ? folder === name.slice(0, -2) : `${folder}/`.startsWith(`${name}/`),
	);
}

/** The imports that go up, or are of or from a file in no layer. */
export function climbsIn(path, text) {
	const targets = [...text.matchAll(IMPORT)].map(([, target]) => normalize(join(dirname(path), target)));
	const own = targets.filter((target) => !target.startsWith(".."));
	return own
		.filter((target) => layerOf(path) < 0 || layerOf(target) < layerOf(path))
		.map((target) => `${path} imports ${target}`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
	const files = ["src", "lab"].flatMap((top) =>
		readdirSync(top, { recursive: true }).map((name) => join(top, name)),
	);
	const modules = files.filter((name) => name.endsWith(".ts"));
	const climbs = modules.flatMap((name) => climbsIn(name, readFileSync(name, "utf8")));
	for (const climb of climbs)
		console.error(`${climb}, which is in a layer above its own (LAYERS in layers.mjs)`);
	process.exitCode = climbs.length ? 1 : 0;
}
