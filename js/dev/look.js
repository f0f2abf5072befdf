// Looks for text of the widgets on the page that is covered, cut, or outside of its box.

const parentOf = (node) => node.parentElement ?? node.getRootNode().host ?? null;
const styles = new Map();
function style(element) {
	if (!styles.has(element)) styles.set(element, getComputedStyle(element));
	return styles.get(element);
}
const isClipped = (value) => value === "hidden" || value === "clip";
const scrolls = (value) => value === "auto" || value === "scroll";
/** Cut on purpose: what only a screen reader reads, figures that give way, and the moving end of a file while it is written. */
const isExempt = (element) =>
	element.closest(".anb-sr, .anb-meta, .anb-code.tail, .anb-empty.source, [aria-hidden=true] pre");

/** The part of a rectangle that is left by all boxes around it that clip or scroll; null if nothing is. */
function visible(rect, element) {
	let [left, top, right, bottom] = [rect.left, rect.top, rect.right, rect.bottom];
	for (let box = element; box; box = parentOf(box)) {
		const { overflowX, overflowY } = style(box);
		if (overflowX === "visible" && overflowY === "visible") continue;
		const around = box.getBoundingClientRect();
		[left, right] = [Math.max(left, around.left), Math.min(right, around.right)];
		[top, bottom] = [Math.max(top, around.top), Math.min(bottom, around.bottom)];
	}
	return right - left > 1 && bottom - top > 1 ? { left, top, right, bottom } : null;
}

/** The nearest box that lies above others: a head that stays while they scroll, a menu, a panel. */
function layerOf(element) {
	for (let box = element; box; box = parentOf(box)) {
		const { position, zIndex } = style(box);
		if (position === "sticky" || zIndex !== "auto") return box;
	}
	return null;
}

function nameOf(element) {
	const look = element.getAttribute("class") ?? "";
	return `<${element.localName} class="${look}"> ${element.textContent.trim().slice(0, 40)}`;
}

/** What is wrong with one widget. */
function lookAt(run) {
	const frame = run.shadowRoot?.querySelector(".anb-frame");
	if (!frame) return ["not drawn"];
	const shown = [frame, ...frame.querySelectorAll("*")].filter(isShown);
	const inks = shown.flatMap(inksOf);
	const { right } = frame.getBoundingClientRect();
	return [
		...shown.filter(isCut).map((element) => `cut: ${nameOf(element)}`),
		...inks.filter(({ rect }) => rect.right > right + 1).map(({ element }) => `outside: ${nameOf(element)}`),
		...inks.flatMap((one, index) =>
			inks
				.slice(index + 1)
				.filter((other) => covers(one, other))
				.map((other) => `overlap: ${nameOf(one.element)} and ${nameOf(other.element)}`),
		),
	];
}

function isShown(element) {
	const visible = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
	const part = element.localName !== "svg" && element.closest("svg");
	return visible && !isExempt(element) && !part && style(element).clipPath === "none";
}

/** The parts of an element's own text that can be seen. */
function inksOf(element) {
	const rects = boxesOf(element).map((box) => visible(box, element));
	return rects.filter(Boolean).map((rect) => ({ element, rect, layer: layerOf(element) }));
}

/** Where an element paints by itself: its own lines of text, or an image. */
function boxesOf(element) {
	if (element.localName === "svg" || element.localName === "img") return [element.getBoundingClientRect()];
	const texts = [...element.childNodes].filter(
		(node) => node.nodeType === Node.TEXT_NODE && node.data.trim(),
	);
	return texts.flatMap((node) => {
		const range = document.createRange();
		range.selectNodeContents(node);
		return [...range.getClientRects()];
	});
}

/** Whether an element hides a part of its content that nothing shows: no scrolling, no title. */
function isCut(element) {
	if (["svg", "iframe", "input", "textarea", "select"].includes(element.localName)) return false;
	const { overflowX, overflowY, textOverflow, contentVisibility } = style(element);
	const wide = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0;
	const high = element.scrollHeight > element.clientHeight + 1 && element.clientHeight > 0;
	// A box whose content may be left out of the layout paints nothing outside of itself.
	if (wide && overflowX === "visible" && contentVisibility === "auto") return holdsText(element);
	const unfolds = element.closest("[title], details:not([open]) > summary");
	if (wide && isClipped(overflowX) && !(textOverflow === "ellipsis" && unfolds)) return holdsText(element);
	if (wide && scrolls(overflowX)) return holdsProse(element);
	return high && !unfolds && isClipped(overflowY) && !scrolls(overflowX) && holdsText(element);
}

/** Whether there is text in the part that is hidden. */
function holdsText(element) {
	const box = element.getBoundingClientRect();
	return [element, ...element.querySelectorAll("*")].some(
		(inside) =>
			inside.checkVisibility({ visibilityProperty: true }) &&
			!isExempt(inside) &&
			!isInScroller(inside, element) &&
			boxesOf(inside).some(
				(rect) =>
					rect.width > 1 &&
					(rect.right > box.right + 1 || rect.bottom > box.bottom + 1 || rect.left < box.left - 1),
			),
	);
}

/** Whether words that could have wrapped must be scrolled to. */
function holdsProse(element) {
	const box = element.getBoundingClientRect();
	return [...element.querySelectorAll("*")].some(
		(inside) =>
			!/^(pre|nowrap)/.test(style(inside).whiteSpace) &&
			!inside.closest("table") &&
			!isInScroller(inside, element) &&
			boxesOf(inside).some((rect) => rect.width > 1 && rect.right > box.right + 1),
	);
}

function isInScroller(element, outer) {
	for (let box = element; box && box !== outer; box = parentOf(box)) {
		const { overflowX, overflowY } = style(box);
		if (scrolls(overflowX) || scrolls(overflowY) || isClipped(overflowX)) return true;
	}
	return false;
}

function covers(one, other) {
	const width = Math.min(one.rect.right, other.rect.right) - Math.max(one.rect.left, other.rect.left);
	const height = Math.min(one.rect.bottom, other.rect.bottom) - Math.max(one.rect.top, other.rect.top);
	// Lines of text are a little higher than their line height.
	if (width <= 2 || height <= 4 || one.layer !== other.layer) return false;
	return !one.element.contains(other.element) && !other.element.contains(one.element);
}

/** A line for each finding. Browsers do not lay out all that is out of sight. */
export async function findings(only = "") {
	styles.clear();
	const found = [];
	for (const run of document.querySelectorAll(only ? `[data-anb-run="${only}"]` : "[data-anb-run]")) {
		run.scrollIntoView({ block: "center" });
		for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
		found.push(...[...new Set(lookAt(run))].map((finding) => `${run.dataset.anbRun}: ${finding}`));
	}
	return found;
}
