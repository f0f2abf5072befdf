// Waits until the page is stable: it has loaded, with its fonts and images, and its scripts are idle.

/** Milliseconds without a DOM mutation. */
const QUIET = 200;
/** Maximum milliseconds to wait at each scroll position, for content that appears on scroll. */
const STAY = 150;
const MOST_SCROLLED = 8000;

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

async function scrollTo(top: number): Promise<void> {
	window.scrollTo({ top, behavior: "instant" });
	await Promise.race([drawn().then(drawn), pause(STAY)]);
}

function drawn(): Promise<unknown> {
	return new Promise((resolve) => requestAnimationFrame(resolve));
}

function watchChanges(): { quiet(): Promise<void> } {
	let last = now();
	const observer = new MutationObserver(() => {
		last = now();
	});
	observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
	return {
		async quiet() {
			while (now() - last < QUIET) await pause(QUIET / 4);
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

const { setTimeout } = window;
export const now = performance.now.bind(performance);

/** Timers, saved before the page runs: it could replace them. */
export function pause(milliseconds: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Resolves to whether the work finished in time. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
	return Promise.race([work.then(() => true), pause(milliseconds).then(() => false)]);
}
