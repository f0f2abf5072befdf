// The right pane: tabs, their panels, and the bar that names the file and moves through its versions.

import { copy, openInTab } from "../actions.ts";
import { h, icon, setAttribute, setText } from "../dom.ts";
import type { IconName } from "../icons.ts";
import { presentFiles, shownFile, shownPage } from "../shown.ts";
import type { Device, Tab } from "../ui.ts";
import { createCode } from "./code.ts";
import { createConsole } from "./console.ts";
import type { Context, Moment } from "./context.ts";
import { createDiff } from "./diff.ts";
import { createFiles } from "./files.ts";
import { createPreview } from "./preview.ts";
import { rove } from "./rove.ts";
import { createVersions } from "./versions.ts";

const TABS: readonly [Tab, string][] = [
	["preview", "Preview"],
	["code", "Code"],
	["diff", "Diff"],
	["console", "Console"],
	["files", "Files"],
];

export function createResult(context: Context) {
	const console = createConsole(context, (errors) => bar.count(errors));
	const preview = createPreview(context, console);
	const panels: Record<Tab, { element: HTMLElement; update(moment: Moment): void }> = {
		preview,
		code: createCode(context),
		diff: createDiff(context),
		console,
		files: createFiles(context),
	};
	const bar = createBar(context, preview);
	const versions = createVersions(context, preview);
	const stage = h("div", { class: "anb-panels" }, ...Object.values(panels).map((panel) => panel.element));
	const element = h(
		"section",
		{ class: "anb-right", "aria-label": "Result" },
		bar.element,
		stage,
		versions.element,
	);
	for (const [tab, panel] of Object.entries(panels)) {
		panel.element.setAttribute("role", "tabpanel");
		panel.element.setAttribute("aria-label", TABS.find(([name]) => name === tab)?.[1] ?? tab);
	}

	return {
		element,
		update(moment: Moment) {
			const { tab } = context.choices;
			bar.update(moment);
			for (const [name, panel] of Object.entries(panels)) panel.element.hidden = name !== tab;
			// The preview lives on behind the other tabs; they draw only when they are seen.
			preview.update(moment);
			if (tab !== "preview") panels[tab].update(moment);
			versions.update(moment);
		},
	};
}

function createBar(context: Context, preview: { reload(): void }) {
	const counts = new Map(TABS.map(([tab]) => [tab, h("span", { class: "n", hidden: true })]));
	const tabs = TABS.map(([tab, label]) =>
		h("button", { class: "anb-tab", role: "tab", type: "button", "data-tab": tab }, label, counts.get(tab)),
	);
	const list = h("div", { class: "anb-tabs", role: "tablist", "aria-label": "Result" }, ...tabs);
	const devices = createDevices(context);
	const reload = iconButton(context, "retry", "Reload preview", () => preview.reload());
	const copyFile = iconButton(context, "copy", "Copy file", () => copy(context));
	const open = iconButton(context, "open", "Open in new tab", () => openInTab(context));
	const rule = h("span", { class: "v" });
	const element = h(
		"div",
		{ class: "anb-bar" },
		list,
		h("span", { class: "sp" }),
		devices.element,
		rule,
		reload,
		copyFile,
		open,
	);
	const { signal } = context;

	function choose(tab: Tab, focus: boolean): void {
		context.choices.tab = tab;
		context.redraw();
		if (focus) tabs[TABS.findIndex(([name]) => name === tab)]?.focus();
	}
	list.addEventListener(
		"click",
		(event) => {
			const tab = (event.target as Element).closest<HTMLElement>("[data-tab]")?.dataset.tab;
			if (tab) choose(tab as Tab, false);
		},
		{ signal },
	);
	list.addEventListener(
		"keydown",
		(event) =>
			rove(
				event,
				TABS.map(([tab]) => tab),
				context.choices.tab,
				(tab) => choose(tab, true),
			),
		{ signal },
	);

	return {
		element,
		count(errors: number) {
			setCount(counts.get("console")!, errors, "err");
		},
		update({ state }: Moment) {
			const chosen = context.choices.tab;
			const files = presentFiles(state);
			const shown = shownFile(state, context.choices);
			const edits = shown ? shown.file.versions.filter((version) => version.number > 1).length : 0;
			for (const [index, [tab]] of TABS.entries()) {
				setAttribute(tabs[index]!, "aria-selected", String(tab === chosen));
				setAttribute(tabs[index]!, "tabindex", tab === chosen ? "0" : "-1");
			}
			setCount(counts.get("diff")!, edits);
			setCount(counts.get("files")!, files.length > 1 ? files.length : 0);
			const nothing = shownPage(state, context.choices) === null;
			devices.element.hidden = rule.hidden = reload.hidden = chosen !== "preview";
			copyFile.hidden = chosen !== "code" && chosen !== "diff";
			for (const button of [reload, open]) button.toggleAttribute("disabled", nothing);
			copyFile.toggleAttribute("disabled", typeof shown?.text !== "string");
			devices.update(nothing);
		},
	};
}

function setCount(element: HTMLElement, value: number, extra = ""): void {
	element.hidden = value === 0;
	element.className = `n ${extra}`.trim();
	setText(element, String(value));
}

export function iconButton(
	context: Context,
	name: IconName,
	label: string,
	press: () => void,
): HTMLButtonElement {
	const button = h(
		"button",
		{ class: "anb-ic", type: "button", "aria-label": label, title: label },
		icon(name),
	);
	button.addEventListener("click", press, { signal: context.signal });
	return button;
}

const DEVICES: readonly [Device, IconName, string][] = [
	["phone", "phone", "Phone, 390 px"],
	["tablet", "tablet", "Tablet, 768 px"],
	["full", "desktop", "Full width"],
];

function createDevices(context: Context) {
	const buttons = DEVICES.map(([device, glyph, label]) => {
		const button = iconButton(context, glyph, label, () => choose(device));
		button.setAttribute("role", "radio");
		return button;
	});
	const element = h(
		"div",
		{ class: "anb-seg", role: "radiogroup", "aria-label": "Preview width" },
		...buttons,
	);
	function choose(device: Device): void {
		context.choices.device = device;
		context.redraw();
	}
	element.addEventListener(
		"keydown",
		(event) =>
			rove(
				event,
				DEVICES.map(([device]) => device),
				context.choices.device,
				(device) => {
					choose(device);
					buttons[DEVICES.findIndex(([name]) => name === device)]?.focus();
				},
			),
		{ signal: context.signal },
	);
	return {
		element,
		update(disabled: boolean) {
			DEVICES.forEach(([device], index) => {
				const button = buttons[index]!;
				const on = device === context.choices.device;
				setAttribute(button, "aria-checked", String(on));
				setAttribute(button, "tabindex", on ? "0" : "-1");
				button.toggleAttribute("disabled", disabled);
			});
		},
	};
}
