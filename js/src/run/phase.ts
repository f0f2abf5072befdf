// What a run does, in words. `phaseText` is the wording of `agent_nb/core/phase.py`; the page adds seconds that it counts.

import type { Event } from "./events.ts";

/** An activity and what it is about: `writing` and `index.html`. */
export interface Phase {
	readonly activity: string;
	readonly subject?: string;
}

const WAITING: Phase = { activity: "waiting", subject: "for approval, clock paused" };
const ASKING: Phase = { activity: "waiting", subject: "for your answer, clock paused" };

export const STARTING: Phase = { activity: "starting" };
export const THINKING: Phase = { activity: "thinking" };
export const ON_YOUR_SERVER: Phase = { activity: "starting", subject: "on your server" };
/** A local server may process the first prompt for minutes before it answers. */
export const READING: Phase = { activity: "reading", subject: "the prompt" };

/** Seconds without an event after which the thinking time is shown. */
const QUIET = 10;

/** The remaining seconds of a wait, as shown in the header and the card. */
export function retrySeconds(remaining: number): number {
	return Math.max(1, Math.round(remaining));
}

export function retryPhase(wait: number): Phase {
	return { activity: "retrying", subject: `in ${retrySeconds(wait)} s` };
}

export function phaseText({ activity, subject }: Phase): string {
	return subject ? `${activity} ${subject}` : activity;
}

/** "running Python" for a call titled "run Python". */
function running(title: string): Phase {
	return { activity: "running", subject: title.replace(/^run /, "") };
}

/** The phase after an event of a tool call, as in `phase_after`. */
export function callPhase(phase: Phase, event: Event): Phase {
	switch (event.type) {
		case "tool_started":
			return running(event.title);
		case "tool_running":
			return phase === WAITING || phase === ASKING ? phase : running(event.title); // another call of the turn may be waiting
		case "approval_requested":
			return event.is_question ? ASKING : WAITING;
		case "approval_resolved":
			return running("tools");
		default:
			return phase;
	}
}

/** Seconds of silence after which possible causes are shown. */
export const WAITS_LONG = 20;

/** The state needed to compute how long the model has been silent. */
interface Working {
	readonly busy: boolean;
	readonly phase: Phase;
	readonly turn: number;
	readonly rows: readonly { readonly turn: number }[];
}

/** Whether the model has sent nothing in this turn yet. */
export function isWaiting({ busy, phase, turn, rows }: Working): boolean {
	return busy && (phase === THINKING || phase === READING) && rows.at(-1)?.turn !== turn;
}

/** A phase as shown, often with seconds, and for a screen reader, which must not announce every second. */
export interface TimedPhase {
	readonly text: string;
	readonly spoken: string;
}

export function waitingPhase(silent: number): TimedPhase {
	return timed("waiting for the model", silent);
}

/** The phase, with the seconds of silence if the model is working and they exceed the limit. */
export function quietPhase(state: Working, silent: number): TimedPhase {
	const { phase } = state;
	const text = phaseText(phase);
	if ((phase !== THINKING && phase !== READING) || silent < QUIET) return { text, spoken: text };
	return phase === THINKING && isWaiting(state) ? waitingPhase(silent) : timed(text, silent);
}

function timed(spoken: string, silent: number): TimedPhase {
	return { text: `${spoken}, ${duration(silent)}`, spoken };
}

function duration(silent: number): string {
	const whole = Math.floor(silent);
	return `${whole < 60 ? "" : `${Math.floor(whole / 60)} min `}${whole % 60} s`;
}
