// Waits until the page is stable: it has loaded, with its fonts and images, and its scripts are idle.

/** Timers in a row, and milliseconds of each, without a DOM mutation. On a busy machine they are as late as the page's own. */
const [QUIET_ROUNDS, ROUND] = [4, 50];
/** Maximum milliseconds at each scroll position: in a hidden tab, which draws no frames, and where they are late. */
const [HIDDEN, LATE] = [150, 500];
const MOST_SCROLLED = 8000;

// Saved before the page runs: it could replace them.
const { setTimeout, requestAnimationFrame } = window;
export const now = performance.now.bind(performance);

export async function settle(): Promise<void> {
	const changes = watchChanges();
	await loaded();
	for (const image of document.images) image.loading = "eager";
	await scrollThrough();
	await Promise.all([document.fonts.ready, ...[...document.images].map(arrived)]);
	await changes.quiet();
	finishAnimations();
}

async function loaded(): Promise<void> {
	if (document.readyState === "complete") return;
	await new Promise((resolve) => window.addEventListener("load", resolve, { once: true }));
}

function arrived(image: HTMLImageElement): Promise<unknown> {
	return image.complete ? Promise.resolve() : image.decode().catch(() => undefined);
}

async function scrollThrough(): Promise<void> {
	const end = Math.min(document.documentElement.scrollHeight, MOST_SCROLLED);
	for (let top = window.innerHeight; top < end; top += window.innerHeight) await scrollTo(top);
	await scrollTo(0);
}

/** Stays for two frames: in the first one, the page learns what is visible and adds content; the second one draws that. */
async function scrollTo(top: number): Promise<void> {
	window.scrollTo({ top, behavior: "instant" });
	await Promise.race([drawn().then(drawn), pause(document.hidden ? HIDDEN : LATE)]);
}

function drawn(): Promise<unknown> {
	return new Promise((resolve) => requestAnimationFrame(resolve));
}

function watchChanges(): { quiet(): Promise<void> } {
	let [rounds, isWatching] = [0, true];
	const observer = new MutationObserver(() => {
		rounds = 0;
	});
	observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
	const count = (): void => {
		rounds++;
		if (isWatching) setTimeout(count, ROUND);
	};
	setTimeout(count, ROUND);
	return {
		async quiet() {
			while (rounds < QUIET_ROUNDS) await pause(ROUND);
			isWatching = false;
			observer.disconnect();
		},
	};
}

/** Finishes animations, except infinite ones. */
function finishAnimations(): void {
	for (const animation of document.getAnimations()) {
		const ends = animation.effect?.getComputedTiming().endTime;
		if (animation.playState === "running" && Number.isFinite(Number(ends))) animation.finish();
	}
}

export function pause(milliseconds: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Resolves to whether the work finished in time. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
	return Promise.race([work.then(() => true), pause(milliseconds).then(() => false)]);
}
