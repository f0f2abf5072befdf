// The check of layers sees every form of import.

import { expect, test } from "vitest";
// @ts-expect-error plain JavaScript, run by `npm run check`
import { climbsIn } from "../layers.mjs";

test.each([
	'import { Host } from "../host/host.ts";',
	'import type {\n\tHost,\n} from "../host/host.ts";',
	'export * from "../host/host";',
	'import "../host/host.ts";',
	'const host = await import(\n\t"../host/host.ts"\n);',
	'import script from "../page/inside.ts?bundle";',
	'import { h } from "../nowhere/dom.ts";',
])("refuses an import that goes up: %j", (text) => {
	expect(climbsIn("src/run/state.ts", text)).toHaveLength(1);
});

test.each([
	'import { h } from "../base/dom.ts";',
	'import policy from "../../../agent_nb/pages/policy.json";',
])("accepts any other import: %j", (text) => {
	expect(climbsIn("src/run/state.ts", text)).toEqual([]);
});

test("refuses a file in no layer", () => {
	expect(climbsIn("src/new/file.ts", 'import { h } from "../base/dom.ts";')).toHaveLength(1);
});
