// Helpers about other windows and the kernel, for the widget and for `run.page`.

/** Whether a window belongs to the frame or to any frame nested in it: a page may create frames. */
export function isInside(source: Window | null, frame: Window | null): boolean {
	let at = source;
	while (at && at !== frame) at = at.parent === at ? null : at.parent;
	return at !== null;
}

/** A signal of JupyterLab. */
export interface Signal<T> {
	connect(listener: (sender: unknown, args: T) => void): unknown;
	disconnect(listener: (sender: unknown, args: T) => void): unknown;
}

/** Set by JupyterLab's manager; other front ends may lack it. */
export type Kernel = { statusChanged?: Signal<string>; disposed?: Signal<undefined> } | null | undefined;

/** The messages for lost runs, by kernel status. */
const GONE: Record<string, string> = {
	restarting: "the kernel was restarted",
	autorestarting: "the kernel was restarted",
	terminating: "the kernel was shut down",
	dead: "the kernel has died",
};

/** Calls a function when the kernel is gone. Returns a function that unsubscribes. */
export function watchKernel(kernel: Kernel, onGone: (why: string) => void): () => void {
	// When the notebook changes its kernel, the connection is disposed without a status.
	const onKernel = (_: unknown, status?: string): void => {
		const why = status ? GONE[status] : "the kernel was changed";
		if (why) onGone(why);
	};
	const signals = [kernel?.statusChanged, kernel?.disposed];
	for (const signal of signals) signal?.connect(onKernel);
	return () => {
		for (const signal of signals) signal?.disconnect(onKernel);
	};
}
