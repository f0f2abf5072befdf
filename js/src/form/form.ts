// A call as a form: a field for each argument, made from the tool's schema.

import { h } from "../dom.ts";
import type { Json } from "../events.ts";
import { printable } from "../printable.ts";
import type { Form, Problems } from "../questions.ts";
import { remarksOn } from "../view/transcript/arguments.ts";
import { createControl } from "./controls.ts";
import { type Field, fieldsOf, readFields } from "./kinds.ts";

/** Names elements for the labels and descriptions that refer to them. */
let created = 0;

export function createForm(args: Json, schema: Json): Form {
	const fields = fieldsOf(args, schema);
	const rows = new Map(fields.map((field) => [field.name, createRow(field, () => changed(field.name))]));
	const element = h("div", { class: "anb-form" }, ...[...rows.values()].map((row) => row.element));

	function changed(name: string): void {
		const { args: next, problems } = readFields(fields, args, (field) => rows.get(field.name)!.text());
		// A problem that the kernel has found stays until its field changes.
		rows.get(name)?.setProblem(problems[name] ?? "");
		form.onChange(next, problems);
	}

	const form: Form = {
		element,
		onChange: () => {},
		refuse(problems: Problems) {
			const rest: string[] = [];
			for (const [path, problem] of Object.entries(problems)) {
				const [name = "", ...inside] = path.split("/").map(unescaped);
				const sentence = inside.length ? `${inside.join(" / ")}: ${problem}` : problem;
				const row = rows.get(name);
				if (row) row.setProblem(sentence);
				else rest.push(problem);
			}
			return rest;
		},
		focus() {
			const all = [...rows.values()];
			(all.find((row) => row.hasProblem()) ?? all[0])?.focus();
		},
	};
	return form;
}

/** A part of a JSON pointer. */
function unescaped(part: string): string {
	return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

function createRow(field: Field, changed: () => void) {
	const id = `anb-field-${++created}`;
	const control = createControl(field, () => {
		remark();
		changed();
	});
	const mark = h("span", null, field.given ? "" : "optional");
	const name = h("label", { class: "field", for: id }, printable(field.name), mark);
	const about = h("p", { class: "anb-cap", id: `${id}-about` }, printable(field.description));
	const problem = h("p", { class: "problem", id: `${id}-problem`, role: "alert" });
	const remarks = h("p", { class: "anb-cap" });
	const remark = (): void => {
		remarks.textContent = remarksOn(control.text()).join(" ");
		remarks.hidden = remarks.textContent === "";
	};
	remark();
	control.input.id = id;
	control.input.setAttribute("aria-describedby", `${id}-about ${id}-problem`);
	about.hidden = field.description === "";
	return {
		element: h("div", { class: field.kind }, name, control.element, problem, remarks, about),
		text: control.text,
		focus: () => control.input.focus(),
		hasProblem: () => problem.textContent !== "",
		setProblem(text: string) {
			if (problem.textContent !== text) problem.textContent = text;
			control.input.setAttribute("aria-invalid", String(text !== ""));
		},
	};
}
