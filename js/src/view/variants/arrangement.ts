// Holds one variant, or the arrangement of all of them, with the strip above. What is not shown is not built, and the
// code for several variants is loaded for the first run that has them.

import { openInTab } from "../../actions.ts";
import { h, hasFocus, moveFocus } from "../../dom.ts";
import { knownModule, loadSoon } from "../../loading.ts";
import { type Arrangement, resetVariant } from "../../ui.ts";
import type { BodyView, Context } from "../context.ts";
import { createPreview } from "../result/preview.ts";
import { createLateView } from "../shared/late-part.ts";
import type * as AllVariants from "./all-variants.ts";
import { createSingle } from "./single-variant.ts";

type Module = typeof AllVariants;
const NAME = "variants";

/** The strip above several variants. */
export function createStripSlot(context: Context) {
	return createLateView<Module>(context, NAME, {
		wanted: ({ variants }) => variants.length > 1,
		create: ({ createStrip }) => createStrip({ ...context, createPreview, openInTab }),
		fail() {
			context.choices.note = "The kernel did not answer, so only one variant is shown.";
		},
	});
}

export function createPlace(context: Context): BodyView {
	const element = h("div", { class: "anb-place" });
	const { choices } = context;
	let shown = "";
	let body: BodyView | null = null;
	let life = new AbortController();
	context.signal.addEventListener("abort", () => life.abort());
	const isComing = createWait(context);

	function fill(arrangement: Arrangement): BodyView {
		life.abort();
		life = new AbortController();
		if (shown) resetVariant(choices);
		const built = build({ ...context, signal: life.signal }, arrangement);
		const held = hasFocus(element);
		element.replaceChildren(built.element);
		const tab = '.anb-vars [role="tab"][tabindex="0"]';
		if (held) moveFocus(element.parentElement?.querySelector<HTMLElement>(tab));
		return built;
	}

	return {
		element,
		update(snapshot) {
			const many = snapshot.variants.length > 1;
			if (many && isComing()) return;
			const arrangement = many && knownModule<Module>(NAME) ? choices.arrangement : "one";
			const key = arrangement === "one" ? `${arrangement} ${choices.variant}` : arrangement;
			if (!body || key !== shown) body = fill(arrangement);
			shown = key;
			if (many) labelPanel(body.element, arrangement, snapshot.variants[choices.variant]?.label ?? "");
			body.update(snapshot);
		},
		tick: (snapshot) => body?.tick(snapshot),
	};
}

function build(context: Context, arrangement: Arrangement): BodyView {
	const module = knownModule<Module>(NAME);
	if (arrangement === "one" || !module) return createSingle(context);
	return module.createAll({ ...context, createPreview, openInTab }, arrangement);
}

/** Whether the code for several variants is on its way: until then the place is empty, so that nothing flashes. */
function createWait({ run, redraw }: Context): () => boolean {
	let asked = false;
	let late = false;
	return () => {
		if (late || knownModule<Module>(NAME)) return false;
		if (!asked)
			void loadSoon<Module>(run, NAME).then(() => {
				late = true;
				redraw();
			});
		asked = true;
		return true;
	};
}

function labelPanel(element: HTMLElement, arrangement: Arrangement, label: string): void {
	element.setAttribute("role", arrangement === "one" ? "tabpanel" : "group");
	element.setAttribute("aria-label", arrangement === "one" ? label : "All variants");
}
