// A status bar item with the number of active runs: JupyterLab shows their kernel as idle.

import type { Lab } from "./interface.ts";
import type { WidgetModule } from "./jupyter.ts";

export interface StatusBar {
	registerStatusItem(
		id: string,
		item: { item: object; align: "left"; rank: number; priority: number; isActive(): boolean },
	): unknown;
}

export function createStatus(bar: StatusBar, { Widget }: WidgetModule): Lab["setRuns"] {
	const counts = new Map<object, number>();
	const total = () => [...counts.values()].reduce((sum, count) => sum + count, 0);
	const item = new Widget();
	item.node.classList.add("jp-StatusBar-TextItem");
	// Right of the kernel's state. Items of priority 0 are hidden in narrow windows.
	const place = { align: "left", rank: 2, priority: 1 } as const;
	bar.registerStatusItem("agent-nb:runs", { item, ...place, isActive: () => total() > 0 });
	return (kernel, count) => {
		counts.set(kernel, count);
		if (count === 0) counts.delete(kernel);
		item.node.textContent = `${total()} agent ${total() === 1 ? "run" : "runs"}`;
		item.setHidden(total() === 0);
	};
}
