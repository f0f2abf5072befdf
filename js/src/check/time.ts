// Timers, saved before the page runs, which could replace them.

const { setTimeout } = window;
export const now = performance.now.bind(performance);

export function pause(milliseconds: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Whether the work was done in time. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
	return Promise.race([work.then(() => true), pause(milliseconds).then(() => false)]);
}
