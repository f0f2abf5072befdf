// How far the page is wider than the window, and the element that reaches farthest.
(() => {
	const root = document.scrollingElement ?? document.documentElement;
	const pixels = root.scrollWidth - root.clientWidth;
	if (pixels < 1) return null;
	const name = (element) => {
		const id = element.id ? `#${element.id}` : "";
		const classes = [...element.classList].slice(0, 2).map((one) => `.${one}`);
		return element.localName + id + classes.join("");
	};
	let [farthest, edge] = [document.body, root.clientWidth];
	for (const element of [...document.querySelectorAll("body *")].slice(0, 5000)) {
		const right = element.getBoundingClientRect().right + scrollX;
		if (right > edge && right <= root.scrollWidth + 1) [farthest, edge] = [element, right];
	}
	const parents = [];
	for (let at = farthest; at && parents.length < 3 && at !== document.body; at = at.parentElement) parents.unshift(name(at));
	return { pixels, selector: parents.join(" > ") || "body" };
})();
