import { expect, test } from "vitest";
import { setTypesetter } from "../src/base/markdown/typeset.ts";
import { Markdown } from "../src/base/markdown.ts";

const frame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));

test("formulas are typeset in the document, and shown through slots that fall back to their text", async () => {
	setTypesetter({ typeset: (node) => node.replaceChildren(`<${node.textContent}>`) });
	const host = document.body.appendChild(document.createElement("div"));
	const text = host.attachShadow({ mode: "open" }).appendChild(document.createElement("p"));
	const markdown = new Markdown(text);
	markdown.set("Let $x$", false);
	await frame();
	expect(host.children).toHaveLength(0);
	markdown.set("Let $x$ be $$\\bar{y}$$.", true);
	await frame();
	expect([...host.children].map((child) => child.textContent)).toEqual(["<$x$>", "<$$\\bar{y}$$>"]);
	const slots = [...text.querySelectorAll("slot")];
	expect(slots.map((slot) => slot.name)).toEqual([...host.children].map((child) => child.slot));
	expect(text.textContent).toBe("Let $x$ be $$\\bar{y}$$.");

	for (const child of [...host.children]) child.remove(); // as JupyterLab does when the result comes
	for (const slot of slots) slot.dispatchEvent(new Event("slotchange"));
	expect(slots.map((slot) => slot.name)).toEqual([...host.children].map((child) => child.slot));
});
