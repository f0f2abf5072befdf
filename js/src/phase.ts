// The phase of a run that waits before a retry, worded as in `agent_nb/phase.py`.

/** The seconds of a wait that are left, as the header and the card show them. */
export function retrySeconds(left: number): number {
	return Math.max(1, Math.round(left));
}

export function retryPhase(wait: number): string {
	return `retrying in ${retrySeconds(wait)} s`;
}
