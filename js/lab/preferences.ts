// The user's preferences, from the Settings Editor, or for a whole hub from `overrides.json`. Their schema is
// `preferences.json`, which the server reads.

import type { Signal } from "../src/base/windows.ts";

export interface SettingRegistry {
	load(plugin: string): Promise<{
		readonly composite: Readonly<Record<string, unknown>>;
		readonly changed: Signal<unknown>;
	}>;
}

export interface Preferences {
	/** Whether a new stage follows the newest run. */
	stageFollows: boolean;
}

/** The id of the plugin, by which the server finds the schema. */
export const CELLS = "agent-nb:cells";

/** Classes that the body gets while a preference is off, for the style sheets. */
const WITHOUT = { fixButton: "agent-nb-no-fix", prosePrompts: "agent-nb-no-prose" };

/** Loads the preferences and applies their changes. Until then, or if that fails, all are on. */
export function createPreferences(registry: SettingRegistry | null): Preferences {
	const preferences = { stageFollows: true };
	registry?.load(CELLS).then(
		(settings) => {
			const isOn = (name: string): boolean => settings.composite[name] !== false;
			const apply = (): void => {
				preferences.stageFollows = isOn("stageFollows");
				for (const [name, without] of Object.entries(WITHOUT))
					document.body.classList.toggle(without, !isOn(name));
			};
			settings.changed.connect(apply);
			apply();
		},
		(error: unknown) => console.warn("agent_nb: its preferences cannot be read.", error),
	);
	return preferences;
}
