// Phases with seconds counted by the page; the wait before a retry is worded as in `agent_nb/core/phase.py`.

import type { Event } from "./events.ts";

const WAITING = "waiting for approval, clock paused";

export const ON_YOUR_SERVER = "starting on your server";
/** A local server may process the first prompt for minutes before it answers. */
export const READING = "reading the prompt";

/** Seconds without an event after which the thinking time is shown. */
const QUIET = 10;

/** The remaining seconds of a wait, as shown in the header and the card. */
export function retrySeconds(remaining: number): number {
	return Math.max(1, Math.round(remaining));
}

export function retryPhase(wait: number): string {
	return `retrying in ${retrySeconds(wait)} s`;
}

/** "running Python" for a call titled "run Python". */
function running(title: string): string {
	return `running ${title.replace(/^run /, "")}`;
}

/** The phase after an event of a tool call, as in `phase_after`. */
export function callPhase(phase: string, event: Event): string {
	switch (event.type) {
		case "tool_started":
			return running(event.title);
		case "tool_running":
			return phase === WAITING ? phase : running(event.title); // another call of the turn may be waiting
		case "approval_requested":
			return WAITING;
		case "approval_resolved":
			return "running tools";
		default:
			return phase;
	}
}

/** Seconds of silence after which possible causes are shown. */
export const WAITS_LONG = 20;

/** The state needed to compute how long the model has been silent. */
interface Working {
	readonly busy: boolean;
	readonly phase: string;
	readonly turn: number;
	readonly rows: readonly { readonly turn: number }[];
}

/** Whether the model has sent nothing in this turn yet. */
export function isWaiting({ busy, phase, turn, rows }: Working): boolean {
	return busy && (phase === "thinking" || phase === READING) && rows.at(-1)?.turn !== turn;
}

export function waitingPhase(silent: number): string {
	return `waiting for the model, ${duration(silent)}`;
}

/** The phase, with the seconds of silence if the model is working and they exceed the limit. */
export function quietPhase(state: Working, silent: number): string {
	const { phase } = state;
	if ((phase !== "thinking" && phase !== READING) || silent < QUIET) return phase;
	return phase === "thinking" && isWaiting(state) ? waitingPhase(silent) : `${phase}, ${duration(silent)}`;
}

function duration(silent: number): string {
	const whole = Math.floor(silent);
	return `${whole < 60 ? "" : `${Math.floor(whole / 60)} min `}${whole % 60} s`;
}
