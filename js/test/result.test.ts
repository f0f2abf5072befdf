import { beforeEach, describe, expect, test } from "vitest";
import {
	changed,
	done,
	finished,
	type Loose,
	piece,
	script,
	started,
	text,
	thinking,
	tool,
	turn,
} from "./events.ts";
import { shadow, soon } from "./kernel.ts";
import { kernel, show } from "./stage.ts";

let last: number;

beforeEach(async () => {
	last = 0;
	await show();
});

async function tell(...events: Loose[]): Promise<void> {
	kernel.batch(last + 1, script(...events));
	last += events.length;
	await soon();
}

const one = <T extends Element = HTMLElement>(query: string): T => shadow().querySelector<T>(query)!;
const wrote = (path: string, text = "x"): Loose[] => [
	tool(path),
	piece(path, 0, text, path),
	changed(path, 1, { call_id: path }),
	done({ call_id: path }),
];

async function press(query: string): Promise<void> {
	one(query).click();
	await soon();
}

describe("lists of files", () => {
	test("a row survives what is written meanwhile", async () => {
		await tell(started, turn, ...wrote("b.css"), tool(), piece("index.html", 0, "<p>a</p>"));
		await press("[data-tab=files]");
		const [show, save] = [one(".anb-files .name"), one('[aria-label="Save b.css"]')];
		await tell(piece("index.html", 8, "<p>b</p>"), ...wrote("a.css"), changed("b.css", 2));
		expect(show.isConnected && save.isConnected).toBe(true);
		const rows = [...shadow().querySelectorAll(".anb-files li")].map((row) => row.textContent);
		expect(rows).toEqual(["a.css3 B1 version", "b.css3 B2 versions", "index.html16 Bbeing written"]);
	});

	test("a file in the tree survives a new one", async () => {
		await tell(started, turn, ...wrote("b.css"), ...wrote("index.html"));
		await press("[data-tab=code]");
		const file = one('[data-path="b.css"]');
		await tell(...wrote("a.css"), ...wrote("css/c.css"));
		expect(file.isConnected).toBe(true);
		const order = [...shadow().querySelectorAll(".anb-tree li")].map((row) => row.textContent);
		expect(order).toEqual(["a.css", "b.css", "index.html", "css", "c.css"]);
	});

	test("arrow keys move from the shown file, in the order on screen", async () => {
		await tell(
			started,
			turn,
			...["about.html", "css/a.css", "index.html", "zoo.html"].flatMap((p) => wrote(p)),
		);
		await press("[data-tab=code]");
		const walked: (string | undefined)[] = [];
		for (const key of ["ArrowDown", "ArrowDown", "ArrowUp"]) {
			one(".anb-tree").dispatchEvent(new KeyboardEvent("keydown", { key }));
			await soon();
			walked.push(one(".anb-tree [aria-selected=true]").dataset.path);
		}
		expect(walked).toEqual(["zoo.html", "css/a.css", "zoo.html"]);
	});
});

test("a run that has ended well shows its result, then the field, then how it came about", async () => {
	await tell(started, turn, thinking("Hm."), ...wrote("index.html"), text("39% are espresso."));
	const isBeside = (): boolean => one(".anb-left").contains(one(".anb-scroll"));
	expect(isBeside()).toBe(true);
	await tell(finished());
	expect(isBeside()).toBe(false);
	const parts = [...one(".anb-frame").children].map(({ classList }) => classList[0]);
	const order = ["anb-head", "anb-place", "anb-compose", "anb-below", "anb-foot"];
	expect(parts.filter((part) => order.includes(part ?? ""))).toEqual(order);
	const state = (): unknown[] => [
		one(".anb-how").textContent,
		one(".anb-how").getAttribute("aria-expanded"),
		one(".anb-scroll").hidden,
	];
	expect(state()).toEqual(["How: 1 step, thought 1.0 s", "false", true]);
	await press(".anb-how");
	expect(state()).toEqual(["How: 1 step, thought 1.0 s", "true", false]);
	await press(".anb-how");
	expect(state()).toEqual(["How: 1 step, thought 1.0 s", "false", true]);
});

test("a run that was stopped keeps its transcript beside its result", async () => {
	await tell(started, turn, ...wrote("index.html"), finished("stopped"));
	expect(one(".anb-left").contains(one(".anb-scroll"))).toBe(true);
	expect(one(".anb-scroll").textContent).toContain("The run was stopped");
});

describe("the pane of the result", () => {
	const hidden = (): boolean => one(".anb-right").hasAttribute("hidden");

	test("appears with the first page, and slides in only then", async () => {
		await tell(started, turn, text("I count them."), ...wrote("data.json"));
		expect(hidden()).toBe(true);
		await tell(tool(), piece("index.html", 0, "<p>a</p>"));
		expect([hidden(), one(".anb-body").classList.contains("slides")]).toEqual([false, true]);
	});

	test("is there at once, and does not slide, where the page is older than the view", async () => {
		await tell(started, turn, ...wrote("index.html"));
		expect([hidden(), one(".anb-body").classList.contains("slides")]).toEqual([false, false]);
	});

	test("stays hidden when the user has hidden it, and opens by the line above the transcript", async () => {
		await tell(started, turn, ...wrote("index.html"));
		await press('[aria-label="Hide result"]');
		await tell(changed("index.html", 2), finished());
		expect([hidden(), one(".anb-fold").textContent]).toEqual([true, "Show 1 file, 2 versions"]);
		await press(".anb-fold");
		expect(hidden()).toBe(false);
	});

	test("opens with the code of files that cannot be previewed", async () => {
		await tell(started, turn, ...wrote("data.json"), finished());
		expect(one(".anb-frame").classList.contains("fit")).toBe(true);
		await press(".anb-fold");
		expect([hidden(), one("[data-tab=code]").getAttribute("aria-selected")]).toEqual([false, "true"]);
	});
});

test("folded edits are not redrawn while the model writes", async () => {
	const edit = (version: number): Loose[] => [
		tool(`e${version}`),
		changed("index.html", version, { call_id: `e${version}`, patch: [[0, 1, "y"]] }),
		done({ call_id: `e${version}` }),
	];
	await tell(started, turn, ...wrote("index.html"), ...edit(2), ...edit(3));
	await tell(...edit(4));
	const label = one(".anb-item:has(.anb-edits) .lab");
	expect(label.textContent).toBe("3 edits of index.html");
	const path = label.lastChild;
	await tell(text("And "));
	await tell(text("more."));
	expect(label.lastChild).toBe(path);
});

describe("versions and replay", () => {
	test("a chosen version stays with its file", async () => {
		await tell(started, turn, ...wrote("index.html"), changed("index.html", 2, { patch: [[0, 1, "y"]] }));
		await press('[aria-label="Previous version"]');
		const versionBar = (): string => one(".anb-ver .file").textContent! + one(".anb-ver .which").textContent;
		expect(versionBar()).toBe("index.htmlv1 of 2");
		await tell(tool("c9"), piece("about.html", 0, "<p>", "c9"));
		expect(versionBar()).toBe("index.htmlv1 of 2");
	});

	test("the next cell continues from the moment that is shown", async () => {
		const css = changed("style.css", 2, { patch: [[0, 1, "p{}"]], media_type: "text/css", call_id: null });
		await tell(started, turn, ...wrote("index.html"), ...wrote("style.css"), css);
		const bar = (part: string): HTMLElement => one(`.anb-ver ${part}`);
		expect(bar(".which").textContent).toBe("change 3 of 3: style.css");
		await press('[aria-label="Previous version"]');
		expect(bar(".which").textContent).toBe("change 2 of 3: style.css");
		const next = one(".anb-askrow .primary");
		expect(next.textContent).toBe("Continue from change 2");
		await press('[aria-label="Next version"]');
		expect(next.textContent).toBe("Copy cell");
		await press("[data-tab=diff]");
		const files = [...one(".anb-panels > :not([hidden])").querySelectorAll("[data-path]")];
		expect(files.map((file) => file.textContent)).toEqual(["index.html", "style.css"]);
	});

	test("a chosen file that is deleted is no longer shown", async () => {
		await tell(started, turn, ...wrote("index.html", "home"), ...wrote("b.css", "p{}"));
		await press("[data-tab=code]");
		await press('[data-path="b.css"]');
		await tell(changed("b.css", 2, { action: "deleted" }));
		expect(one(".anb-lines .anb-block").textContent).toBe("home");
	});

	test("what the request covers is inert", async () => {
		await tell(started, turn, ...wrote("index.html"), finished());
		await press(".anb-replay");
		const covered = (): boolean => one(".anb-place").hasAttribute("inert");
		expect(covered()).toBe(false);
		await press(".anb-scrubber .anb-btn");
		expect(covered()).toBe(true);
		await press('.anb-request [aria-label="Close"]');
		expect(covered()).toBe(false);
	});

	test("code goes back with the replay", async () => {
		const pieces = ["aaa\n", "bbb\n", "ccc\n"].map((line, at) => piece("index.html", 4 * at, line));
		await tell(started, turn, tool(), ...pieces, changed("index.html", 1), done(), finished());
		await press("[data-tab=code]");
		await press(".anb-replay");
		const range = one<HTMLInputElement>(".anb-scrubber .anb-range");
		const seek = async (seconds: number): Promise<string | null> => {
			range.value = String(seconds);
			range.dispatchEvent(new Event("input"));
			await soon();
			return one(".anb-lines .anb-block").textContent;
		};
		expect([await seek(3), await seek(5), await seek(4)]).toEqual(["aaa\n", "aaa\nbbb\nccc\n", "aaa\nbbb\n"]);
	});
});
