// Keeps the user's input in a page's form fields when the page is edited or reloaded.

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** A field's text, its checked state, or the selected state of its options. */
export type FieldValue = string | boolean | boolean[];

export interface SavedField {
	/** Either of them identifies the field. */
	keys: string[];
	value: FieldValue;
}

const FIELDS = "input:not([type=file]), textarea, select";

export class Fields {
	readonly #touched = new WeakSet<EventTarget>();

	/** Marks a field as changed by the user; values set by scripts are ignored. */
	readonly onInput = (event: Event): void => {
		const field = event.composedPath()[0];
		if (event.isTrusted && field) this.#touched.add(field);
	};

	/** The fields that the user has changed. */
	take(): SavedField[] {
		return keyed().flatMap(({ field, keys }) =>
			this.#touched.has(field) ? [{ keys, value: fieldValue(field) }] : [],
		);
	}

	/** Restores the values from `take`, unless an edit has changed or removed the fields. */
	put(saved: readonly SavedField[]): void {
		const byKey = new Map(keyed().flatMap(({ field, keys }) => keys.map((key) => [key, field])));
		for (const { keys, value } of saved) {
			const field = keys.map((key) => byKey.get(key)).find(Boolean);
			if (!field) continue;
			this.#touched.add(field);
			give(field, value);
		}
	}
}

/** Resets selects to their defaults: Idiomorph would write the difference into the page. */
export function resetSelects(): void {
	for (const field of document.querySelectorAll("select"))
		give(
			field,
			[...field.options].map(({ defaultSelected }) => defaultSelected),
		);
}

function keyed(): { field: Field; keys: string[] }[] {
	const fields = [...document.querySelectorAll<Field>(FIELDS)];
	const names = fields.map((field) =>
		JSON.stringify([field.localName, field.type, field.id, field.name, defaultOf(field)]),
	);
	const near = fields.map((field, at) => `${names[at]} ${field.parentElement?.textContent}`);
	const [first, second] = [numbered(names), numbered(near)];
	return fields.map((field, at) => ({ field, keys: [first[at] ?? "", second[at] ?? ""] }));
}

/** Prefixes each name with "2 of 3", so that keys change when identical fields are added or removed. */
function numbered(names: readonly string[]): string[] {
	const total = new Map<string, number>();
	const order = names.map((name) => {
		const nth = (total.get(name) ?? 0) + 1;
		total.set(name, nth);
		return nth;
	});
	return names.map((name, at) => `${order[at]} of ${total.get(name)} ${name}`);
}

function defaultOf(field: Field): string {
	if (field instanceof HTMLSelectElement) return field.innerHTML;
	if (field instanceof HTMLTextAreaElement) return field.defaultValue;
	return `${field.getAttribute("value")} ${field.defaultChecked}`;
}

function isCheckable(field: Field): field is HTMLInputElement {
	return field.type === "checkbox" || field.type === "radio";
}

function fieldValue(field: Field): FieldValue {
	if (field instanceof HTMLSelectElement) return [...field.options].map(({ selected }) => selected);
	return isCheckable(field) ? field.checked : field.value;
}

function give(field: Field, value: FieldValue): void {
	if (field instanceof HTMLSelectElement) {
		for (const [at, option] of [...field.options].entries())
			option.selected = Array.isArray(value) && value[at] === true;
	} else if (isCheckable(field)) {
		field.checked = value === true;
	} else if (field.value !== value) {
		// Setting even the same text would move the cursor.
		field.value = String(value);
	}
}
