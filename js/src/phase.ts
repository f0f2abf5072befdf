// The phase of a run in words, derived from its events: the twin of `agent_nb/phase.py`.

import type { Event, Reason } from "./events.ts";

export const ENDINGS: Record<Reason, string> = {
	end_turn: "done",
	max_tokens: "cut off at the token limit",
	max_steps: "stopped at the step limit",
	max_seconds: "stopped at the time limit",
	budget: "stopped at the budget",
	refusal: "refused",
	stopped: "stopped",
	interrupted: "interrupted",
	failed: "failed",
};

/** What is left of a wait, as the header and the card count it. */
export function retrySeconds(left: number): number {
	return Math.max(1, Math.round(left));
}

export function retryPhase(wait: number): string {
	return `retrying in ${retrySeconds(wait)} s`;
}

/** The phase once `event` has happened, given the phase before it. */
export function phaseAfter(phase: string, event: Event): string {
	switch (event.type) {
		case "run_started":
			return "starting";
		case "turn_started":
		case "thinking_delta":
			return "thinking";
		case "turn_retrying":
			return retryPhase(event.wait);
		case "text_delta":
			return "writing";
		case "file_delta":
			return `writing ${event.path}`;
		case "tool_started":
		case "tool_running":
			return `running ${event.title}`;
		case "approval_requested":
			return "waiting for approval";
		case "run_finished":
			return ENDINGS[event.reason];
		default:
			return phase;
	}
}
