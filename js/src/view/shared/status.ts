// The phase of a variant as a colour, an icon and a text.

import type { IconName } from "../../base/icons.ts";
import { ENDINGS, type Tone } from "../../run/events.ts";
import { phaseText, quietPhase, retryPhase, type TimedPhase } from "../../run/phase.ts";
import type { RunState } from "../../run/run-state.ts";
import { retryOf, type VariantState } from "../../run/state.ts";
import { askingTitle, phaseOfAll, spokenOfAll, type Variant } from "../../run/variants.ts";
import type { Snapshot } from "../context.ts";

export type StatusTone = "live" | Tone;

const ENDED: Record<Tone, IconName> = { ok: "done", err: "error", warn: "warn", off: "stopped" };

/** The failed check and its observation, once the run has ended; else empty. */
export function failedCheck({ ready, meta }: RunState): string {
	return ready ? ready.failed_check : meta.failed_check;
}

export function statusOf(state: VariantState): [StatusTone, IconName | null] {
	if (!state.busy) {
		const tone = state.reason ? ENDINGS[state.reason].tone : "off";
		return [tone, ENDED[tone]];
	}
	if (askingTitle(state) !== null) return ["warn", "pause"];
	if (retryOf(state)) return ["warn", "retry"];
	return ["live", null];
}

/** The status of all variants together: a question has priority, then work; finally, one success is enough. */
export function statusOfAll(variants: readonly Variant[]): [StatusTone, IconName | null] {
	const busy = variants.filter(({ state }) => state.busy);
	if (busy.some(({ state }) => askingTitle(state) !== null)) return ["warn", "pause"];
	if (busy.length) return ["live", null];
	const ends = variants.map(({ state }) => statusOf(state));
	return ends.find(([tone]) => tone === "ok") ?? ends.find(([tone]) => tone === "off") ?? ends[0]!;
}

/** The phase, with the seconds until a retry or the seconds of silent thinking. */
export function phaseNow({ state, now }: Pick<Variant, "state" | "now">): TimedPhase {
	const retry = retryOf(state);
	if (!retry) return quietPhase(state, now - state.at);
	const phase = retryPhase(retry.wait - (now - retry.from));
	return { text: phaseText(phase), spoken: phase.activity };
}

/** The phase of the run, or of all its variants, and the check that failed. */
export function headline(snapshot: Snapshot) {
	const { state, run, variants } = snapshot;
	const many = variants.length > 1;
	const check = state.busy ? "" : failedCheck(run);
	if (check) {
		const text = `check failed: ${check}`;
		return { tone: "err", glyph: "error", text, announced: text } as const;
	}
	const [tone, glyph] = many ? statusOfAll(variants) : statusOf(state);
	if (many) return { tone, glyph, text: phaseOfAll(variants), announced: spokenOfAll(variants) };
	const { text, spoken: announced } = phaseNow(snapshot);
	const { subject = "" } = state.phase;
	const path = state.files.has(subject) ? subject : "";
	return { tone, glyph, text, announced, path };
}
