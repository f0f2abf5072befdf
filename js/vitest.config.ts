import { defineConfig } from "vitest/config";
// @ts-expect-error plain JavaScript, shared with build.mjs
import { viteText } from "./bundling.mjs";

export default defineConfig({
	plugins: [viteText],
	test: { environment: "happy-dom", include: ["test/**/*.test.ts"], testTimeout: 30_000 },
});
