// The preferences: on until the registry has loaded them, or if it cannot, and applied when they change.

import { expect, test, vi } from "vitest";
import schema from "../lab/preferences.json";
import { CELLS, createPreferences, type SettingRegistry } from "../lab/preferences.ts";

const ALL_ON = [true, false, false];

test("preferences are applied when they are loaded and when they change", async () => {
	const changed: (() => void)[] = [];
	let composite: Record<string, unknown> = {};
	const connect = (listener: never) => changed.push(listener);
	const settings = {
		changed: { connect, disconnect() {} },
		get composite() {
			return composite;
		},
	};
	const load = vi.fn(async () => settings);
	const preferences = createPreferences({ load });
	const state = () => {
		const { classList } = document.body;
		const classes = ["agent-nb-no-fix", "agent-nb-no-prose"].map((name) => classList.contains(name));
		return [preferences.stageFollows, ...classes];
	};
	expect(state()).toEqual(ALL_ON);
	await vi.waitFor(() => expect(changed).toHaveLength(1));
	expect(load).toHaveBeenCalledWith(CELLS);
	const off = Object.fromEntries(Object.keys(schema.properties).map((name) => [name, false]));
	for (const [values, expected] of [
		[off, [false, true, true]],
		[{ ...off, fixButton: true }, [false, false, true]],
		[{}, ALL_ON],
	] as const) {
		composite = values;
		changed[0]?.();
		expect(state()).toEqual(expected);
	}
});

test.each([null, { load: () => Promise.reject(new Error("no schema")) } as SettingRegistry])(
	"without a registry or a schema all are on",
	async (registry) => {
		const warn = vi.spyOn(console, "warn").mockReturnValue();
		expect(createPreferences(registry).stageFollows).toBe(true);
		await Promise.resolve();
		await Promise.resolve();
		expect(warn).toHaveBeenCalledTimes(registry ? 1 : 0);
	},
);
