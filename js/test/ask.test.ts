import { describe, expect, test } from "vitest";
import { type Ask, cellText as cellOf, nextName } from "../src/run/ask.ts";
import { isPath } from "../src/run/cell-source.ts";
import type { NotebookContext } from "../src/run/cells.ts";
import type { ReadyMessage } from "../src/run/protocol.ts";
import { RunEntry } from "../src/run/runs.ts";
import { script, turn } from "./events.ts";
import { META } from "./kernel.ts";

function runOf(name = "hero", names: string[] = [name], sources: string[] = []): RunEntry {
	const cells = sources.map((source) => ({ getSource: () => source }));
	const notebook: NotebookContext = { model: { sharedModel: { cells } } };
	const run = new RunEntry("k", {} as never, notebook, () => names);
	begin(run, name);
	return run;
}

function begin(run: RunEntry, name: string, magic = "agent", count = 1): void {
	const events = Array.from({ length: count }, (_, variant) => ({ ...script(turn)[0]!, variant }));
	const meta = { ...META, name, magic };
	run.change({ kind: "batch", run_id: "r", first: 1, last: count, events, meta });
}

function cellText(run: RunEntry, ask: Ask, moment: number | null = null, variant = 0): string | null {
	return cellOf(run, { ask, moment, variant });
}

const HEADING = { path: "main > h2:nth-of-type(2)", file: "index.html", label: "h2", line: 3, origin: "" };

describe("the next cell", () => {
	test("continues from the run under the next free name", () => {
		expect(cellText(runOf(), { notes: [], text: " Larger {{df}}\n type " })).toBe(
			"%%agent hero_2 --from hero\nLarger {{df}}\n type",
		);
		expect(nextName("hero", runOf("hero", ["hero", "hero_2"], ["%%agent hero_3 --from hero"]))).toBe(
			"hero_4",
		);
		expect(nextName("hero_2", runOf("hero_2", ["hero", "hero_2"]))).toBe("hero_3");
		const other = runOf();
		other.change({ kind: "greeted", meta: { ...META, magic: "robot" } });
		expect(cellText(other, { notes: [], text: "Larger" })).toBe("%%robot hero_2 --from hero\nLarger");
		expect(nextName("größe_", runOf("größe_"))).toBe("größe__2");
	});

	test("names the run's model where cells use another, but not several, or that of someone else's run", () => {
		const line = (model: string, standard: string) => {
			const run = runOf();
			const meta = { ...META, model, default_model: standard };
			run.change({ kind: "greeted", meta });
			return cellText(run, { notes: [], text: "Larger" })?.split("\n")[0];
		};
		expect(line("openai:gpt-6", "anthropic:claude")).toBe("%%agent hero_2 -m openai:gpt-6 --from hero");
		expect(line("demo:", "anthropic:claude")).toBe("%%agent hero_2 -m demo: --from hero");
		for (const [model, standard] of [
			["openai:gpt-6", "openai:gpt-6"],
			["openai:gpt-6", ""],
			["client:codex", "demo:"],
			["openai:gpt-6, demo:", "demo:"],
		] as const) {
			expect(line(model, standard)).toBe("%%agent hero_2 --from hero");
		}
	});

	test("repeats the ticked options of the run's cell, without those left out and with those added", () => {
		const run = runOf();
		const ticks = { "-t kernel": true, "--budget 0.2": true, "--approve auto": false };
		const repeats = Object.entries(ticks).map(([text, ticked]) => ({ text, label: text, ticked }));
		run.change({ kind: "greeted", meta: { ...META, repeats } });
		expect(cellText(run, { notes: [], text: "Why?" })).toBe(
			"%%agent hero_2 --from hero -t kernel --budget 0.2\nWhy?",
		);
		expect(cellText(run, { notes: [], text: "Why?", toggled: ["-t kernel", "--approve auto"] })).toBe(
			"%%agent hero_2 --from hero --budget 0.2 --approve auto\nWhy?",
		);
	});

	test("continues from the moment that is shown, of the variant that is shown", () => {
		const run = runOf();
		const line = (moment: number | null, variant = 0) =>
			cellText(run, { notes: [], text: "Larger" }, moment, variant)?.split("\n")[0];
		expect(line(1)).toBe("%%agent hero_2 --from hero.at(1)");
		expect(line(Number.POSITIVE_INFINITY)).toBe("%%agent hero_2 --from hero");
		begin(run, "hero", "agent", 2);
		run.change({ kind: "ready", run_id: "r", variant: 0 } as ReadyMessage);
		expect(line(1)).toBe("%%agent hero_2 --from hero.1.at(1)");
		expect(line(2, 1)).toBe("%%agent hero_2 --from hero.2.at(2)");
		expect(line(null, 1)).toBe("%%agent hero_2 --from hero.1");
	});

	test("names the variant that is picked, in the references, too", () => {
		const notes = [{ elements: [HEADING], text: "larger" }];
		const cell = (magic: string, isReady = true) => {
			const run = runOf();
			begin(run, "hero", magic, 2);
			if (isReady) run.change({ kind: "ready", run_id: "r", variant: 1 } as ReadyMessage);
			return cellText(run, { notes, text: "" });
		};
		expect(cell("agent")).toBe(
			'%%agent hero_2 --from hero.2\n{{hero.2.element("main > h2:nth-of-type(2)")}}: larger',
		);
		expect(cell("")).toContain('("`main > h2:nth-of-type(2)`: larger", name="hero_2", base=hero.pick(2))');
		expect(cell("", false)).toContain("base=hero)");
	});

	test("continues from the run of a cell that was inserted out of sight", () => {
		const ask = { notes: [], text: "Bluer", base: "hero_2" };
		expect(cellText(runOf("hero", ["hero", "hero_2"]), ask)).toBe("%%agent hero_3 --from hero_2\nBluer");
	});

	test("is Python where there is no magic", () => {
		const run = runOf();
		const about = { ...HEADING, path: "h1", file: "about.html" };
		const notes = [{ elements: [HEADING, about], text: 'say "hi"' }];
		run.change({ kind: "greeted", meta: { ...META, magic: "" } });
		expect(cellText(run, { notes, text: "{{df}}" })).toBe(
			'hero_2, hero_2_view = await agent_nb.marimo.agent("`main > h2:nth-of-type(2)` and `h1` in about.html: say \\"hi\\"\\n{{df}}", name="hero_2", base=hero)',
		);
	});

	test("has each note on its own line, with references to the elements", () => {
		const about = { ...HEADING, path: "h1", file: "sub/about.html" };
		const ask: Ask = {
			notes: [
				{ elements: [HEADING, about], text: "larger" },
				{ elements: [HEADING], text: " " },
			],
			text: "And warmer.",
		};
		expect(cellText(runOf(), ask)).toBe(
			[
				"%%agent hero_2 --from hero",
				'{{hero.element("main > h2:nth-of-type(2)")}} and {{hero.element("h1", "sub/about.html")}}: larger',
				"And warmer.",
			].join("\n"),
		);
	});

	test("is not offered without text, or for a name that no cell can hold", () => {
		expect(cellText(runOf(), { notes: [{ elements: [HEADING], text: "" }], text: " " })).toBeNull();
		expect(cellText(runOf("a\n!rm"), { notes: [], text: "x" })).toBeNull();
	});

	test("takes paths of tag names and numbers alone", () => {
		expect(["h2", "body > x-card:nth-of-type(12) > p", HEADING.path].every(isPath)).toBe(true);
		for (const path of [
			"",
			"#id",
			".x",
			'h2")}}',
			"h2 ",
			"H2",
			"h2 > ",
			"h2\n",
			`${"a > ".repeat(61)}a`,
			"a{{b}}",
		])
			expect(isPath(path)).toBe(false);
	});
});
