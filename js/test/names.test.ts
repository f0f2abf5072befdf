// One name, one meaning: no type of `src/` or `lab/` shares the name of an exported one.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const TYPE = /^(export )?(?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/gm;

test("an exported type name is defined once", () => {
	const definitions = new Map<string, string[]>();
	const exported = new Set<string>();
	for (const room of ["src", "lab"]) {
		for (const file of readdirSync(room, { recursive: true, encoding: "utf8" })) {
			if (!file.endsWith(".ts")) continue;
			for (const [, isExported, name = ""] of readFileSync(`${room}/${file}`, "utf8").matchAll(TYPE)) {
				definitions.set(name, [...(definitions.get(name) ?? []), `${room}/${file}`]);
				if (isExported) exported.add(name);
			}
		}
	}
	expect(exported).toContain("RunEntry");
	expect([...definitions].filter(([name, files]) => exported.has(name) && files.length > 1)).toEqual([]);
});
