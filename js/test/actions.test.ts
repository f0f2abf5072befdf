import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { changed, done, finished, piece, script, started, tool, turn } from "./events.ts";
import { shadow, soon } from "./kernel.ts";
import { kernel } from "./stage.ts";

let opened: Blob[];

beforeEach(() => {
	document.body.innerHTML = '<div class="cell"><div data-anb-run="k"></div></div>';
	opened = [];
	vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
		opened.push(blob as Blob);
		return "blob:one";
	});
	vi.spyOn(window, "open").mockReturnValue(null);
});

afterEach(() => void vi.restoreAllMocks());

const find = (selector: string): HTMLButtonElement => shadow().querySelector<HTMLButtonElement>(selector)!;

test("an image opens in a tab", async () => {
	const image = changed("art/a b.png", 1, { media_type: "image/png" });
	kernel.batch(1, script(started, turn, tool(), image, done(), finished()));
	await soon();
	kernel.answer(kernel.commands("file")[0], { ok: true, base64: "AAEC", media_type: "image/png" });
	await soon();
	find('.anb-bar [aria-label="Open in new tab"]').click();
	expect(window.open).toHaveBeenCalled();
	expect(await opened[0]!.text()).toContain("data:image/png;base64,AAEC");
	find('[data-tab="code"]').click();
	await soon();
	expect(find('[aria-label="Copy file"]').disabled).toBe(true);
	expect(find('[role="menuitem"]').hidden).toBe(true);
});

test("an SVG file opens as an image", async () => {
	const svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>";
	const drawn = [tool(), piece("a.svg", 0, svg), changed("a.svg", 1, { media_type: "image/svg+xml" })];
	kernel.batch(1, script(started, turn, ...drawn, done(), finished()));
	await soon();
	find('.anb-bar [aria-label="Open in new tab"]').click();
	const text = await opened[0]!.text();
	expect(text).toContain("data:image/svg+xml");
	expect(text).not.toContain("&lt;svg");
});

async function copyName(): Promise<string> {
	kernel.batch(1, script(started, turn, finished()));
	kernel.say({ kind: "ready", line: "`hero` is ready" });
	await soon();
	find('[aria-label="Copy the name"]').click();
	await soon();
	const toast = find(".anb-toast");
	expect(toast.hidden).toBe(false);
	expect(find("[aria-live=assertive]").textContent).toBe(toast.textContent);
	return toast.textContent!;
}

function clipboard(value: unknown): void {
	Object.defineProperty(navigator, "clipboard", { value, configurable: true });
}

test("copying is shown and announced", async () => {
	const writeText = vi.fn(() => Promise.resolve());
	clipboard({ writeText });
	expect(await copyName()).toBe("Copied");
	expect(writeText).toHaveBeenCalledWith("hero");
});

test("over plain http the old command copies", async () => {
	clipboard(undefined);
	const setData = vi.fn();
	document.execCommand = () => {
		const event = Object.assign(new Event("copy", { cancelable: true }), { clipboardData: { setData } });
		return document.dispatchEvent(event);
	};
	expect(await copyName()).toBe("Copied");
	expect(setData).toHaveBeenCalledWith("text/plain", "hero");
	document.execCommand = () => false;
	find('[aria-label="Copy the name"]').click();
	await soon();
	expect(find(".anb-toast").textContent).toBe("The browser did not allow copying");
});
