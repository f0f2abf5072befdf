// How text gets into the bundle: `*.css` as a string, and `./x.ts?bundle` as the compiled, self-contained
// script of that file (the code that runs inside the preview's frame). Used by esbuild and by vitest.
import { dirname, resolve } from "node:path";
import * as esbuild from "esbuild";

/** Packages that the Markdown parser needs little of, and what it gets instead. */
export const LEAN = {
	entities: resolve(import.meta.dirname, "src/base/markdown/lean/entities.ts"),
	"uc.micro": resolve(import.meta.dirname, "src/base/markdown/lean/characters.ts"),
	mdurl: resolve(import.meta.dirname, "src/base/markdown/lean/nothing.ts"),
};

/** Rules that the Markdown parser disables, and what is bundled instead of them. */
const DISABLED = /\/rules_(?:block\/html_block|inline\/(?:html_inline|image|linkify))\.mjs$/;
const NO_RULE = resolve(import.meta.dirname, "src/base/markdown/lean/nothing.ts");

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

/** A style sheet with those that it imports, and the files of them all. */
async function readCss(file) {
	const options = { entryPoints: [file], bundle: true, minify: true, write: false, metafile: true };
	const result = await esbuild.build(options);
	return {
		text: result.outputFiles[0].text,
		files: Object.keys(result.metafile.inputs).map((path) => resolve(path)),
	};
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
		build.onLoad({ filter: /\.css$/ }, async (args) => {
			const { text, files } = await readCss(args.path);
			return { contents: text, loader: "text", watchFiles: files };
		});
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
		if (id.startsWith("\0css:"))
			return `export default ${JSON.stringify((await readCss(id.slice(5, -5))).text)}`;
		return null;
	},
};
