// What is known of other windows and of the kernel, for the widget and for `run.page`.

/** Whether a window is the frame's, or that of a frame inside it, however deep: a page may create frames. */
export function isInside(source: Window | null, frame: Window | null): boolean {
	let at = source;
	while (at && at !== frame) at = at.parent === at ? null : at.parent;
	return at !== null;
}

type Slot = (sender: unknown, status?: string) => void;
interface Signal {
	connect(slot: Slot): void;
	disconnect(slot: Slot): void;
}
/** JupyterLab's manager knows its kernel; others may not. */
export type Kernel = { statusChanged?: Signal; disposed?: Signal } | null | undefined;

/** What to say of a kernel whose runs are lost, by its status. */
const GONE: Record<string, string> = {
	restarting: "the kernel was restarted",
	autorestarting: "the kernel was restarted",
	terminating: "the kernel was shut down",
	dead: "the kernel has died",
};

/** Calls a function when the kernel is gone. Returns a function that ends that. */
export function watchKernel(kernel: Kernel, onGone: (why: string) => void): () => void {
	// A connection is disposed without a status when the notebook gets another kernel.
	const onKernel: Slot = (_sender, status) => {
		const why = status ? GONE[status] : "the kernel was changed";
		if (why) onGone(why);
	};
	const signals = [kernel?.statusChanged, kernel?.disposed];
	for (const signal of signals) signal?.connect(onKernel);
	return () => {
		for (const signal of signals) signal?.disconnect(onKernel);
	};
}
