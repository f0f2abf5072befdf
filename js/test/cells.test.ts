import { afterEach, describe, expect, test, vi } from "vitest";
import { isName, isReadable, type NotebookContext, placeCell, placeCells } from "../src/cells.ts";
import type { Context } from "../src/view/context.ts";
import { createCellButton } from "../src/view/shared/cell-button.ts";

const LOAD = "%agent load hero";

/** A notebook of JupyterLab with one output, and the button inside its shadow root. */
function stage({ readOnly = false, key = "k" } = {}) {
	const html = `<div data-anb-run="${key}"></div>`;
	document.body.innerHTML = `<div class="jp-Cell" data-windowed-list-index="0">${html}</div>`;
	const root = document.querySelector("[data-anb-run]")!.attachShadow({ mode: "open" });
	root.append(document.createElement("button"));
	const insertCell = vi.fn((index: number) => {
		const added = `<div class="jp-Cell" data-windowed-list-index="${index}"><p class="cm-content" tabindex="0"></p></div>`;
		document.body.insertAdjacentHTML("beforeend", added);
	});
	const cells = [{ getOutputs: () => [{ data: { "text/html": html } }] }];
	const notebook: NotebookContext = { model: { readOnly, sharedModel: { cells, insertCell } } };
	return { notebook, insertCell, button: root.querySelector("button")! };
}

/** A click as the user makes it, or one that a script made. */
function click(button: Element, isTrusted = true): MouseEvent {
	return { isTrusted, currentTarget: button } as unknown as MouseEvent;
}

function clipboard(write: () => Promise<void> = () => Promise.resolve()) {
	const writeText = vi.fn(write);
	vi.stubGlobal("navigator", { clipboard: { writeText } });
	return writeText;
}

afterEach(() => vi.unstubAllGlobals());

describe("a cell below an output", () => {
	test("is inserted through the notebook and selected", async () => {
		const { notebook, insertCell, button } = stage();
		const written = clipboard();
		expect(await placeCell({ key: "k", notebook, greeted: true }, click(button), LOAD)).toBe("inserted");
		expect(insertCell).toHaveBeenCalledExactlyOnceWith(1, { cell_type: "code", source: LOAD, metadata: {} });
		expect(document.activeElement?.className).toBe("cm-content");
		expect(written).not.toHaveBeenCalled();
	});

	test("is one of several, in order, and none of them if one cannot be read", async () => {
		const { notebook, insertCell, button } = stage();
		const run = { key: "k", notebook, greeted: true };
		const cells = [
			{ kind: "markdown", source: "I look. 👩‍💻" },
			{ kind: "code", source: "df" },
		] as const;
		expect(await placeCells(run, click(button, false), cells, "")).toBe("failed");
		expect(await placeCells(run, click(button), [{ kind: "code", source: "a\u202e" }], "")).toBe("failed");
		expect(insertCell).not.toHaveBeenCalled();
		expect(await placeCells(run, click(button), cells, "")).toBe("inserted");
		expect(insertCell.mock.calls.map((call) => (call as unknown[])[1])).toEqual([
			{ cell_type: "markdown", source: "I look. 👩‍💻", metadata: {} },
			{ cell_type: "code", source: "df", metadata: {} },
		]);
	});

	test("is inserted from a view beside the notebook, too", async () => {
		const { notebook, insertCell } = stage();
		const button = document.body.appendChild(document.createElement("button"));
		expect(await placeCell({ key: "k", notebook, greeted: true }, click(button), LOAD)).toBe("inserted");
		expect(insertCell).toHaveBeenCalledOnce();
	});

	test("is copied where the notebook is out of reach, not this one, or read only", async () => {
		for (const [options, reached] of [
			[{}, false],
			[{ key: "other" }, true],
			[{ readOnly: true }, true],
		] as const) {
			const { notebook, insertCell, button } = stage(options);
			const written = clipboard();
			const placed = await placeCell(
				{ key: "k", notebook: reached ? notebook : null, greeted: true },
				click(button),
				LOAD,
			);
			expect(placed).toBe("copied");
			expect(written).toHaveBeenCalledExactlyOnceWith(LOAD);
			expect(insertCell).not.toHaveBeenCalled();
		}
		const { button } = stage();
		clipboard(() => Promise.reject(new Error("forbidden")));
		expect(await placeCell({ key: "k", notebook: null, greeted: true }, click(button), LOAD)).toBe("failed");
	});

	test("needs a user's click, and text without hidden characters", async () => {
		const { notebook, insertCell, button } = stage();
		const written = clipboard();
		expect(await placeCell({ key: "k", notebook, greeted: true }, click(button, false), LOAD)).toBe("failed");
		expect(await placeCell({ key: "k", notebook, greeted: true }, click(button), "hero\u202e")).toBe(
			"failed",
		);
		expect(insertCell).not.toHaveBeenCalled();
		expect(written).not.toHaveBeenCalled();
		expect(isReadable("%%agent hero\n\tGo on")).toBe(true);
		expect(["hero", "größe_2", "2x", "a b", "a\n!rm", ""].map(isName)).toEqual([
			true,
			true,
			false,
			false,
			false,
			false,
		]);
	});

	test("is run by a press, alone, and only for a run that a kernel knows", async () => {
		const pressed = async (greeted: boolean, others = "") => {
			const { notebook, insertCell, button } = stage();
			const keys: string[] = [];
			insertCell.mockImplementation((index) => {
				const cell = document.createElement("div");
				cell.className = "jp-Cell jp-mod-active";
				cell.setAttribute("data-windowed-list-index", String(index));
				cell.innerHTML = '<p class="jp-InputPrompt">[ ]:</p><p class="cm-content" tabindex="0"></p>';
				cell.addEventListener("keydown", ({ key, ctrlKey }) => {
					keys.push(`${ctrlKey ? "Ctrl+" : ""}${key}`);
					cell.querySelector(".jp-InputPrompt")!.textContent = "[*]:";
				});
				document.body.append(cell);
			});
			document.body.insertAdjacentHTML("beforeend", others);
			return [await placeCell({ key: "k", notebook, greeted }, click(button), LOAD, true), keys];
		};
		expect(await pressed(true)).toEqual(["run", ["Ctrl+Enter"]]);
		expect(await pressed(false)).toEqual(["inserted", []]);
		expect(await pressed(true, '<div class="jp-Cell jp-mod-selected"></div>')).toEqual(["inserted", []]);
	});

	test("has a button that shows the text and ignores clicks by a script", async () => {
		const { notebook, insertCell } = stage();
		const context = {
			run: { key: "k", notebook, greeted: true },
			signal: new AbortController().signal,
			notify: vi.fn(),
		};
		const view = createCellButton(context as unknown as Context, "Load");
		document.querySelector("[data-anb-run]")!.shadowRoot!.append(view.element);
		expect(view.element.hidden).toBe(true);
		view.update(LOAD);
		expect(view.element.hidden).toBe(false);
		expect(view.element.textContent).toBe(`Load${LOAD}`);
		view.element.querySelector("button")!.click();
		await new Promise(requestAnimationFrame);
		expect(insertCell).not.toHaveBeenCalled();
		expect(context.notify).not.toHaveBeenCalled();
		const alone = { ...context, run: { key: "k", notebook: null } };
		expect(createCellButton(alone as unknown as Context, "Load").button.textContent).toBe("Copy");
	});
});
