// The answers of all variants in a table: values, models, last lines of code and agreement, and a strip plot of each number.

import { createLazyView, h, setChildren, svg, type View } from "../base/dom.ts";
import { sameJson } from "../base/json.ts";
import type { ShownNumbers } from "../run/events.ts";
import { shortModel, type Variant } from "../run/variants.ts";
import type { FeatureView, Snapshot } from "../view/context.ts";
import { codeOf } from "../view/transcript/tool-row.ts";
import { createTable, type Entry, fieldOf, fieldsOf, MOST_COLUMNS } from "./answer.ts";
import { markEntries, numbersOf, uncomputedIn } from "./numbers.ts";

const WIDTH = 420;
const MARGIN = 16;
/** Pixels between dots above each other. */
const STEP = 8;
const LARGEST = 1e300;

function createAnswers(): View<Snapshot> {
	const look = "anb-answers anb-plain anb-typed";
	const element = h("section", { class: look, tabindex: 0, "aria-label": "Answers" });
	return {
		element,
		update(snapshot) {
			const answered = snapshot.variants.filter(({ state }) => state.answer !== null);
			element.hidden = answered.length === 0;
			const numbers = answered.map((variant) => numbersOf(snapshot.run, variant));
			const key = answered.map(({ number }, at) => `${number} ${numbers[at]?.below}`).join();
			setChildren(element, key, () => {
				const table = tableOf(answered);
				for (const [at, row] of table.querySelectorAll("tbody tr").entries()) markEntries(row, numbers[at]!);
				return [h("h4", null, "Answers"), table, ...plotsOf(answered, numbers)];
			});
		},
	};
}

export const answers: FeatureView = {
	below: () =>
		createLazyView(
			({ variants }) => variants.length > 1 && variants.some(({ state }) => state.answer !== null),
			createAnswers,
		),
};

function tableOf(answered: readonly Variant[]): HTMLElement {
	const fields = answered.map(({ state }) => fieldsOf(state.answer));
	const names = [...new Set(fields.flatMap(Object.keys))].slice(0, MOST_COLUMNS);
	const rounded = answered.map(({ state }) => roundedValue(state.answer));
	const rows = answered.map(({ number, state }, at) => {
		const agree = rounded.filter((other) => sameJson(other, rounded[at])).length;
		const values = names.map((name) => fieldOf(state.answer, name));
		const agreement = `${agree} of ${answered.length}`;
		return [[number + 1], [shortModel(state.model)], ...values, [lastLine(state)], [agreement]] as Entry[];
	});
	return createTable(["variant", "model", ...names, "last line of code", "agree"], rows);
}

/** The last line of the code that succeeded last. */
function lastLine({ rows }: Variant["state"]): string {
	const codes = rows.flatMap((row) => (row.kind === "tool" && row.status === "ok" ? [codeOf(row)] : []));
	const code = codes.findLast((candidate) => candidate !== null) ?? "";
	return code.trim().split("\n").at(-1) ?? "";
}

/** The value with numbers rounded to four digits, by which answers agree. */
function roundedValue(value: unknown): unknown {
	const round = (_: string, part: unknown): unknown =>
		typeof part === "number" ? Number(part.toPrecision(4)) : part;
	return JSON.parse(JSON.stringify(value, round));
}

function plotsOf(answered: readonly Variant[], numbers: readonly ShownNumbers[]): HTMLElement[] {
	const fields = answered.map(({ state }) => fieldsOf(state.answer));
	const isNumber = (value: unknown): boolean => typeof value === "number" && Math.abs(value) < LARGEST;
	const names = Object.keys(fields[0] ?? {}).filter((name) => fields.every((field) => isNumber(field[name])));
	if (fields.length < 2) return [];
	const isHollow = (name: string, at: number): boolean =>
		uncomputedIn(numbers[at]!, fieldOf(answered[at]!.state.answer, name)[1] ?? "").length > 0;
	const dotsOf = (name: string): Dot[] =>
		fields.map((field, at) => [field[name] as number, isHollow(name, at)]);
	return names.map((name) => plotOf(name, dotsOf(name)));
}

/** A value, and whether nothing computed it. */
type Dot = readonly [value: number, isHollow: boolean];

function plotOf(name: string, values: Dot[]): HTMLElement {
	const inOrder = values.toSorted(([a], [b]) => a - b);
	const sorted = inOrder.map(([value]) => value);
	const [low, median, high] = [quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)];
	const hollow = values.some(([, isHollow]) => isHollow) ? "; hollow: not computed" : "";
	const note = `${name}: median ${brief(median)}, middle half ${brief(low)} to ${brief(high)}${hollow}`;
	const [least, most] = [sorted[0]!, sorted.at(-1)!];
	const place = (value: number): number =>
		MARGIN + ((WIDTH - 2 * MARGIN) * (value - least)) / (most - least || 1);
	const heights = new Map<number, number>();
	const dots = inOrder.map(([value, isHollow]) => {
		const column = Math.round(place(value) / STEP);
		heights.set(column, (heights.get(column) ?? 0) + 1);
		const look = { class: isHollow ? "none" : "", r: 3.5 };
		return svg("circle", { cx: place(value), cy: -STEP * heights.get(column)!, ...look });
	});
	const top = STEP * (Math.max(...heights.values()) + 1);
	const label = (x: number, side: string, value: number): Element =>
		svg("text", { x, y: 14, "text-anchor": side }, brief(value));
	const ends = [label(MARGIN, "start", least), ...(most > least ? [label(WIDTH - MARGIN, "end", most)] : [])];
	const half = `M${place(low)} 0V${-top}H${Math.max(place(high), place(low) + 1)}V0`;
	const axis = `M${MARGIN} 0H${WIDTH - MARGIN}M${place(median)} 0V${-top}`;
	const size = { viewBox: `0 ${-top} ${WIDTH} ${top + 20}`, width: WIDTH, height: top + 20 };
	const lines = [svg("path", { class: "half", d: half }), svg("path", { class: "axis", d: axis })];
	const plot = svg("svg", { ...size, role: "img", "aria-label": note }, ...lines, ...dots, ...ends);
	return h("figure", null, h("figcaption", null, note), plot);
}

/** A quantile between the two nearest values. */
function quantile(sorted: readonly number[], share: number): number {
	const at = (sorted.length - 1) * share;
	const below = sorted[Math.floor(at)]!;
	return below + (sorted[Math.ceil(at)]! - below) * (at % 1);
}

function brief(value: number): string {
	return String(Number(value.toPrecision(4)));
}
