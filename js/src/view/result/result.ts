// The right pane: tabs, their panels, and the bar with the file name and its versions.

import { h, setAttribute, setLabel, setText, type View } from "../../base/dom.ts";
import { changesOf } from "../../run/changes.ts";
import type { VariantState } from "../../run/state.ts";
import { copy, openInTab } from "../actions.ts";
import { saveLayout, type Tab } from "../choices.ts";
import type { Context, Snapshot } from "../context.ts";
import { createInspectButton } from "../inspect/inspector.ts";
import { iconButton, rove } from "../shared/buttons.ts";
import { createDevices } from "../shared/devices.ts";
import { createSight } from "../shared/on-screen.ts";
import { presentFiles, shownFile, shownPage, shownTab } from "../shown.ts";
import { showAlone, showPane } from "../transcript/folded-transcript.ts";
import { createCode } from "./code.ts";
import { createConsole } from "./console.ts";
import { createDiff } from "./diff.ts";
import { createFiles } from "./file-tree.ts";
import { createPreview } from "./preview.ts";
import { createProposal } from "./proposal.ts";
import { createVersions } from "./versions.ts";

const LABELS: Record<Tab, string> = {
	preview: "Preview",
	code: "Code",
	diff: "Diff",
	console: "Console",
	files: "Files",
	notebook: "Notebook",
};
const TABS = Object.entries(LABELS) as [Tab, string][];

export function createResult(context: Context) {
	const tabs = createTabs(context);
	const console = createConsole(context, tabs.setErrors);
	const preview = createPreview(context, { reveals: true }, console);
	const panels: Record<Tab, View<Snapshot>> = {
		preview,
		code: createCode(context),
		diff: createDiff(context),
		console,
		files: createFiles(context),
		notebook: createProposal(context),
	};
	const inspect = createInspectButton(context, preview);
	const tools = createTools(context, preview, inspect.element);
	const versions = createVersions(context, preview);
	const bar = h("div", { class: "anb-bar" }, tabs.element, h("span", { class: "sp" }), ...tools.elements);
	const stage = h("div", { class: "anb-panels" }, ...Object.values(panels).map((panel) => panel.element));
	const element = h("section", { class: "anb-right", "aria-label": "Result" }, bar, stage, versions.element);
	const sight = createSight(context.redraw, context.signal);
	sight.watch(element);
	for (const [tab, label] of TABS) {
		panels[tab].element.setAttribute("role", "tabpanel");
		panels[tab].element.setAttribute("aria-label", label);
	}

	return {
		element,
		update(snapshot: Snapshot) {
			const tab = shownTab(context.choices, snapshot.state);
			element.classList.toggle("wrap", context.choices.wrap);
			tabs.update(snapshot.state);
			tools.update(snapshot.state);
			inspect.update(snapshot);
			for (const [name, panel] of Object.entries(panels)) panel.element.hidden = name !== tab;
			// The preview stays live behind the other tabs, which draw only when they are shown.
			if (sight.has(element)) preview.update(snapshot);
			else preview.rest();
			if (tab !== "preview") panels[tab].update(snapshot);
			versions.update(snapshot);
		},
	};
}

function createTabs(context: Context) {
	const names = TABS.map(([tab]) => tab);
	const counts = new Map(names.map((tab) => [tab, h("span", { class: "n", hidden: true })]));
	const tabs = TABS.map(([tab, label]) =>
		h(
			"button",
			{ class: "anb-tab", role: "tab", "data-tab": tab, onclick: () => choose(tab) },
			label,
			counts.get(tab),
		),
	);
	const element = h("div", { class: "anb-tabs", role: "tablist", "aria-label": "Result" }, ...tabs);

	const visible = (): Tab[] => names.filter((_, index) => !tabs[index]?.hidden);
	function choose(tab: Tab): void {
		context.choices.tab = tab;
		context.redraw();
	}
	element.onkeydown = (event) =>
		rove(event, visible(), context.choices.tab, (tab) => {
			choose(tab);
			tabs[names.indexOf(tab)]?.focus();
		});

	return {
		element,
		setErrors: (errors: number) => setCount(counts.get("console")!, errors, "err"),
		update(state: VariantState) {
			const shown = shownTab(context.choices, state);
			for (const [index, button] of tabs.entries()) {
				const on = names[index] === shown;
				setAttribute(button, "aria-selected", String(on));
				setAttribute(button, "tabindex", on ? "0" : "-1");
			}
			const changes = changesOf(state).length;
			tabs[names.indexOf("notebook")]!.hidden = changes === 0;
			setCount(counts.get("notebook")!, changes);
			const files = presentFiles(state).length;
			const versions = shownFile(state, context.choices)?.file.versions ?? [];
			setCount(counts.get("diff")!, versions.filter(({ number }) => number > 1).length);
			setCount(counts.get("files")!, files > 1 ? files : 0);
		},
	};
}

function setCount(element: HTMLElement, value: number, look = ""): void {
	element.hidden = value === 0;
	element.className = `n ${look}`.trim();
	setText(element, String(value));
}

/** Buttons for the visible file, depending on the tab. */
function createTools(context: Context, preview: { reload(): void }, inspect: HTMLElement) {
	const { choices } = context;
	const devices = createDevices(
		() => choices.device,
		(device) => {
			choices.device = device;
			context.redraw();
		},
	);
	const other = matchMedia("(prefers-color-scheme: dark)").matches ? "light" : "dark";
	const scheme = iconButton("scheme", `Show the page in a ${other} browser`, () => {
		choices.scheme = choices.scheme ? "" : other;
		context.redraw();
	});
	scheme.classList.add("anb-scheme");
	const rule = h("span", { class: "v" });
	const reload = iconButton("retry", "Reload preview", () => {
		preview.reload();
		context.redraw();
	});
	const copyFile = iconButton("copy", "Copy file", () => copy(context));
	const open = iconButton("open", "Open in new tab", () => openInTab(context));

	const wrap = iconButton("wrap", "Wrap long lines", () => {
		choices.wrap = !choices.wrap;
		saveLayout({ wrap: choices.wrap });
		context.redraw();
	});
	const fold = iconButton("pane", "Hide transcript", () => showAlone(context, !choices.alone));
	fold.classList.add("anb-alone");
	const close = iconButton("cross", "Hide result", () => showPane(context, false));

	return {
		elements: [inspect, devices.element, scheme, rule, reload, wrap, copyFile, open, fold, close],
		update(state: VariantState) {
			const tab = shownTab(choices, state);
			const nothing = shownPage(state, choices) === null;
			devices.element.hidden = scheme.hidden = rule.hidden = reload.hidden = tab !== "preview";
			copyFile.hidden = wrap.hidden = tab !== "code" && tab !== "diff";
			setAttribute(wrap, "aria-pressed", String(choices.wrap));
			setAttribute(scheme, "aria-pressed", String(choices.scheme !== ""));
			for (const button of [scheme, reload, open]) button.toggleAttribute("disabled", nothing);
			copyFile.toggleAttribute("disabled", typeof shownFile(state, choices)?.text !== "string");
			devices.update(nothing);
			setLabel(fold, `${choices.alone ? "Show" : "Hide"} transcript`);
		},
	};
}
