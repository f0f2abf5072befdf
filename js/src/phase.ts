// Phases with seconds that the page counts itself; the wait before a retry is worded as in `agent_nb/phase.py`.

/** Seconds without an event after which the page says how long the model has been thinking. */
const QUIET = 10;

/** The seconds of a wait that are left, as the header and the card show them. */
export function retrySeconds(left: number): number {
	return Math.max(1, Math.round(left));
}

export function retryPhase(wait: number): string {
	return `retrying in ${retrySeconds(wait)} s`;
}

export function thinkingPhase(silent: number): string {
	const whole = Math.floor(silent);
	if (whole < QUIET) return "thinking";
	return `thinking, ${whole < 60 ? "" : `${Math.floor(whole / 60)} min `}${whole % 60} s`;
}
