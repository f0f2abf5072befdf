// Images that are pasted into the field below a run: the kernel saves them, and the next cell names them.

import { beforeEach, expect, test, vi } from "vitest";
import { META, shadow, soon } from "./kernel.ts";
import { EVENTS, kernel, show } from "./stage.ts";

const OWN = { ...META, reviewable: true };
const PNG = { type: "image/png", text: "a picture" };
const copied: string[] = [];

beforeEach(() => sessionStorage.clear());

async function field(meta = OWN): Promise<HTMLTextAreaElement> {
	copied.splice(0);
	vi.stubGlobal("navigator", { clipboard: { writeText: async (text: string) => void copied.push(text) } });
	await show();
	kernel.batch(1, EVENTS, { meta });
	await soon();
	return shadow().querySelector<HTMLTextAreaElement>(".anb-askrow textarea")!;
}

/** Brings files to the field, as a user or as a script does; says whether they were taken. */
async function bring(
	kind: string,
	files: { type: string; text: string }[],
	{ isTrusted = true, types = ["Files"] } = {},
) {
	const place = shadow().querySelector(".anb-askrow textarea")!;
	const event = new Event(kind, { bubbles: true, cancelable: true, composed: true });
	const transfer = { types, files: files.map(({ type, text }) => new File([text], "any", { type })) };
	Object.defineProperty(event, "isTrusted", { value: isTrusted });
	Object.defineProperty(event, kind === "paste" ? "clipboardData" : "dataTransfer", { value: transfer });
	place.dispatchEvent(event);
	await soon();
	return event.defaultPrevented;
}

const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 10_000 });

/** Answers what the page has sent, however long it took to read the file. */
async function answer(fields: Record<string, unknown>): Promise<void> {
	await until(() => expect(sent()).toHaveLength(1));
	kernel.answer(sent()[0], fields);
}

const sent = () => kernel.commands("paste_image");
const chips = () => [...shadow().querySelectorAll(".anb-pasted > li")].map((chip) => chip.textContent);
const said = () => shadow().querySelector(".anb-toast")?.textContent ?? "";

async function send(): Promise<void> {
	const main = shadow().querySelector<HTMLElement>(".anb-askrow .primary")!;
	const press = new MouseEvent("click", { bubbles: true });
	Object.defineProperty(press, "isTrusted", { value: true });
	main.dispatchEvent(press);
	await soon();
}

test.each(["paste", "drop"])("the next cell names what the kernel has saved after a %s", async (kind) => {
	const text = await field();
	text.value = "Like this";
	text.dispatchEvent(new Event("input", { bubbles: true }));
	expect(await bring(kind, [PNG, { type: "text/plain", text: "no image" }])).toBe(true);
	await until(() => expect(chips()).toEqual(["Saving…"]));
	await send();
	await until(() => expect([said(), copied]).toEqual(["The image is still being saved", []]));
	await answer({ ok: true, path: "images/hero-1.png", thumbnail: "AAAA" });
	expect(sent().map(({ data, run_id }) => [run_id, atob(String(data))])).toEqual([["r1", "a picture"]]);
	await until(() => expect(chips()).toEqual(["images/hero-1.png"]));
	await send();
	const cell = "%%agent hero_2 --from hero -i images/hero-1.png\nLike this";
	await until(() => expect(copied).toEqual([cell]));
});

test("it can be left out, and its file stays", async () => {
	await field();
	await bring("paste", [PNG]);
	await answer({ ok: true, path: "images/hero-1.png", thumbnail: "" });
	await until(() => expect(chips()).toEqual(["images/hero-1.png"]));
	shadow().querySelector<HTMLElement>(".anb-pasted button")!.click();
	const sentence = "Left out; the file images/hero-1.png stays";
	await until(() => expect([chips(), said()]).toEqual([[], sentence]));
});

test.each([
	{ ok: false, error: "The image is damaged or truncated." },
	{ ok: true, path: "../hero-1.png", thumbnail: "" },
	{ ok: true, path: 'images/hero-1.png" --approve auto', thumbnail: "" },
	{ ok: true },
])("an answer without a path of ours leaves nothing: %j", async (fields) => {
	await field();
	await bring("paste", [PNG]);
	await answer(fields);
	const sentence = fields.error ?? "The kernel did not say where the image is.";
	await until(() => expect([chips(), said()]).toEqual([[], sentence]));
});

test.each([
	["by a script", OWN, [PNG], { isTrusted: false }],
	["beside text", OWN, [PNG], { types: ["text/plain", "Files"] }],
	["without an image", OWN, [{ type: "text/html", text: "<b>" }], {}],
	["below a loaded run or a replay", { ...OWN, reviewable: false }, [PNG], {}],
	["in marimo", { ...OWN, magic: "" }, [PNG], {}],
])("nothing is taken %s", async (_, meta, files, how) => {
	await field(meta);
	expect(await bring("paste", files, how)).toBe(false);
	expect([sent(), chips()]).toEqual([[], []]);
});

test.each([
	[
		{ ...OWN, repeats: [{ text: "--data schema", label: "schema", ticked: true }] },
		PNG,
		"No image is sent with --data schema",
	],
	[OWN, { ...PNG, text: "x".repeat(5_000_001) }, "The image is larger than 5 MB; scale it down first."],
])("what cannot be sent is refused in a sentence", async (meta, file, sentence) => {
	await field(meta);
	await bring("paste", [file]);
	await until(() => expect([said(), sent(), chips()]).toEqual([sentence, [], []]));
});

test("after a reload it is there, unless the path in the browser's storage is not the kernel's", async () => {
	const images = ["images/hero-1.png", "/etc/passwd"].map((path) => ({ path, thumbnail: "" }));
	sessionStorage.setItem("agent_nb.ask r1", JSON.stringify({ notes: [], text: "", images }));
	await field();
	expect(chips()).toEqual(["images/hero-1.png"]);
});
