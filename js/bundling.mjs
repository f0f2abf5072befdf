// How text gets into the bundle: `*.css` as a string, and `./x.ts?bundle` as the compiled, self-contained
// script of that file (the code that runs inside the preview's frame). Used by esbuild and by vitest.
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import * as esbuild from "esbuild";

/** Packages that the Markdown parser needs little of, and what it gets instead. */
export const LEAN = {
	entities: resolve(import.meta.dirname, "src/markdown/lean/entities.ts"),
	"uc.micro": resolve(import.meta.dirname, "src/markdown/lean/characters.ts"),
	mdurl: resolve(import.meta.dirname, "src/markdown/lean/addresses.ts"),
};

/** Rules that the Markdown parser disables, and what is bundled instead of them. */
const DISABLED = /\/rules_(?:block\/html_block|inline\/(?:html_inline|image|linkify))\.mjs$/;
const NO_RULE = resolve(import.meta.dirname, "src/markdown/lean/no-rule.ts");

const SUFFIX = "?bundle";

export async function scriptText(file) {
	const result = await esbuild.build({
		entryPoints: [file],
		bundle: true,
		minify: true,
		write: false,
		format: "iife",
		target: "es2022",
	});
	return result.outputFiles[0].text;
}

async function cssText(file) {
	const source = await readFile(file, "utf8");
	const result = await esbuild.transform(source, { loader: "css", minify: true });
	return result.code;
}

export const esbuildText = {
	name: "text",
	setup(build) {
		build.onResolve({ filter: DISABLED }, () => ({ path: NO_RULE }));
		build.onResolve({ filter: /\?bundle$/ }, (args) => ({
			path: resolve(args.resolveDir, args.path.slice(0, -SUFFIX.length)),
			namespace: "script-text",
		}));
		build.onLoad({ filter: /.*/, namespace: "script-text" }, async (args) => ({
			contents: await scriptText(args.path),
			loader: "text",
			watchFiles: [args.path],
		}));
		build.onLoad({ filter: /\.css$/ }, async (args) => ({
			contents: await cssText(args.path),
			loader: "text",
		}));
	},
};

export const viteText = {
	name: "text",
	enforce: "pre",
	resolveId(id, importer) {
		if (DISABLED.test(id)) return NO_RULE;
		if (id.endsWith(SUFFIX)) return `\0script:${resolve(dirname(importer), id.slice(0, -SUFFIX.length))}`;
		if (id.endsWith(".css") && importer) return `\0css:${resolve(dirname(importer), id)}.text`;
		return null;
	},
	async load(id) {
		if (id.startsWith("\0script:")) return `export default ${JSON.stringify(await scriptText(id.slice(8)))}`;
		if (id.startsWith("\0css:")) return `export default ${JSON.stringify(await cssText(id.slice(5, -5)))}`;
		return null;
	},
};
