// Shared by all views: the run, the user's choices, and actions.

import type { View } from "../base/dom.ts";
import { isName } from "../run/cell-source.ts";
import type { FeatureData } from "../run/events.ts";
import type { Answer, Refusal } from "../run/protocol.ts";
import type { RunState } from "../run/run-state.ts";
import type { RunEntry } from "../run/runs.ts";
import type { VariantState } from "../run/state.ts";
import type { Variant } from "../run/variants.ts";
import type { Choices } from "./choices.ts";

export interface Context {
	readonly run: RunEntry;
	readonly features: readonly FeatureView[];
	readonly choices: Choices;
	readonly signal: AbortSignal;
	/** Schedules a redraw for the next frame, after a choice has changed. */
	redraw(): void;
	/** Redraws at once, if the focus must move before the next key. */
	draw(): void;
	/** Makes a screen reader announce a text immediately. */
	announce(text: string): void;
	/** Announces a text and shows it briefly. */
	notify(text: string): void;
}

/** The data drawn in one frame. */
export interface Snapshot {
	readonly run: RunState;
	/** The state of the visible variant, or of the last visible one. */
	readonly state: VariantState;
	/** Seconds on the run's clock. */
	readonly now: number;
	/** All variants of the run, at least one. */
	readonly variants: readonly Variant[];
}

/** The content between the header and the footer. */
export interface BodyView extends View<Snapshot> {
	/** Updates only time-dependent content, such as seconds. */
	tick(snapshot: Snapshot): void;
}

/** A part of a variant, in the strip or an arrangement. */
export interface VariantPart {
	readonly element: HTMLElement;
	update(variant: Variant, snapshot: Snapshot): void;
}

/** A part of the row of names that the code of a run has left: in the row after "Keep", and below it. */
export interface NamesPart {
	readonly inRow: HTMLElement;
	readonly below: HTMLElement;
	update(): void;
}

/** A last row of the transcript. */
export interface RowPart {
	readonly element: HTMLElement;
	/** Returns whether it is visible. */
	update(snapshot: Snapshot): boolean;
}

export interface Slots {
	/** In the last text of the transcript or of the answer, and in the typed answer. The function that it returns is called with every change. */
	answer(context: Context, lists: readonly HTMLElement[]): (snapshot: Snapshot) => void;
	names(context: Context): NamesPart;
	/** Words before the phase in the header; empty for none. */
	header(context: Context): (snapshot: Snapshot) => string;
	row(context: Context): RowPart;
	/** Below the transcript and the result, or below all variants. */
	below(context: Context): View<Snapshot>;
	/** In the grid, below the text of a variant. */
	cell(context: Context): VariantPart;
	/** A button of a variant. */
	action(context: Context): VariantPart;
	/** Whether a variant without files has something to pick. */
	hasResult(context: Context, variant: number): boolean;
}

/** What a feature shows: the function of at least one slot. */
export type FeatureView = Partial<Slots> & { [Slot in keyof Slots]: Pick<Slots, Slot> }[keyof Slots];

/** The functions of all features for a slot. */
export function viewsIn<Slot extends keyof Slots>({ features }: Context, slot: Slot): Slots[Slot][] {
	return features.flatMap((view: Partial<Slots>) => view[slot] ?? []) as Slots[Slot][];
}

/** What a feature shows of a variant, once it has arrived. */
export function shownOf<Name extends keyof FeatureData>(
	{ ready, meta }: RunState,
	name: Name,
	variant: number,
): FeatureData[Name] | undefined {
	const { features = {} } = ready ?? meta;
	return features[name]?.[variant];
}

/** Updates time-dependent content of transcript rows, such as the seconds of a running tool. */
export type Ticking = Set<(snapshot: Snapshot) => void>;

/** Shows one variant alone. */
export function openVariant({ choices, redraw }: Context, number: number): void {
	Object.assign(choices, { variant: number, arrangement: "one" });
	redraw();
}

/** Shows a file in Code, at a line if one is given. */
export function openCode({ choices, redraw }: Context, file: string, line: number | null = null): void {
	Object.assign(choices, { tab: "code", file, moment: null, line });
	redraw();
}

/** Whether the run's variable refers to the visible variant, so that a cell can use it. */
export function isBound({ choices, run }: Context): boolean {
	const { lost = "", ready } = run.state ?? {};
	return !run.busy && !lost && !choices.replay && (ready?.variant ?? choices.variant) === choices.variant;
}

/** Whether a magic cell can refer to the variable. */
export function canRefer(context: Context): boolean {
	const { name = "", magic = "" } = context.run.state?.meta ?? {};
	return isBound(context) && isName(name) && magic !== "";
}

const ANSWER_WITHIN = 1000;

/** Shown when the kernel does not answer in time. */
export const STOP_HINT = "The kernel is busy and did not answer. Press its interrupt button (■) to stop.";

/** Shown beside the final line of the run that Stop has interrupted. */
export const INTERRUPTED = "The kernel was busy, so it was interrupted.";

/** The result of a command: done, the kernel's error, or a hint if no answer arrived in time. */
export type Outcome = { done: true } | { done: false; why: string; fields?: Refusal["fields"] };

/** Reports on a command while its view exists: the hint if the answer is late, then the answer. */
export function follow(
	{ signal }: Context,
	answer: Promise<Answer | Refusal>,
	hint: string,
	report: (result: Outcome) => void,
	within = ANSWER_WITHIN,
): void {
	const timer = setTimeout(() => signal.aborted || report({ done: false, why: hint }), within);
	void answer.then((reply) => {
		clearTimeout(timer);
		const { fields, error: why } = reply as Refusal;
		if (!signal.aborted) report(reply.ok ? { done: true } : { done: false, why, fields });
	});
}

/** Like `follow`, and shows an error in the footer until the command succeeds. */
export function followInFooter(
	context: Context,
	answer: Promise<Answer | Refusal>,
	hint: string,
	report: (result: Outcome) => void,
): void {
	const { choices } = context;
	follow(context, answer, hint, (result) => {
		if (!result.done) choices.note = result.why;
		else if (choices.note === hint) choices.note = "";
		report(result);
		context.redraw();
	});
}
