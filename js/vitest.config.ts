import { defineConfig } from "vitest/config";
// @ts-expect-error plain JavaScript, shared with build.mjs
import { LEAN, viteText } from "./bundling.mjs";

export default defineConfig({
	plugins: [viteText],
	resolve: { alias: LEAN },
	test: {
		environment: "happy-dom",
		pool: "threads",
		include: ["test/**/*.test.ts"],
		isolate: false,
		setupFiles: ["test/fresh.ts"],
		testTimeout: 30_000,
		server: { deps: { inline: ["markdown-it"] } },
	},
});
