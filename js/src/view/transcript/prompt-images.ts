// The images given with the prompt, above the transcript.

import { h } from "../../dom.ts";
import type { Thumbnail } from "../../events.ts";

export function createGiven() {
	const element = h("div", { class: "anb-given", role: "group", "aria-label": "Given images" });
	let drawn: readonly Thumbnail[] = [];
	element.hidden = true;
	return {
		element,
		update(images: readonly Thumbnail[]) {
			if (images === drawn) return;
			drawn = images;
			element.hidden = images.length === 0;
			element.replaceChildren(...images.map(createImage));
		},
	};
}

function createImage({ name, width, height, data }: Thumbnail, index: number): HTMLElement {
	const caption = name || `image ${index + 1}`;
	const title = `${caption} (${width} x ${height})`;
	return h(
		"figure",
		{ title },
		data && h("img", { src: `data:image/jpeg;base64,${data}`, alt: title }),
		h("figcaption", { "aria-hidden": data ? "true" : null }, caption),
	);
}
