// The phases that the header counts or ends with, worded as in `agent_nb/phase.py`.

import type { Reason } from "./events.ts";

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

/** The seconds of a wait that are left, as the header and the card show them. */
export function retrySeconds(left: number): number {
	return Math.max(1, Math.round(left));
}

export function retryPhase(wait: number): string {
	return `retrying in ${retrySeconds(wait)} s`;
}
