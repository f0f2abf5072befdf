// The reader's answers. They stay in this browser, unless the reader saves them to a file.

import type { Annotation, Meta } from "../events.ts";
import type { RunEntry } from "../runs.ts";
import { saveFile } from "../saving.ts";

export interface Given {
	readonly answer: string;
	/** When it was given, in ISO format. */
	readonly time: string;
}

export class Answers {
	/** What was typed and not sent, by question. */
	readonly drafts = new Map<string, string>();
	readonly #key: string;
	readonly #given: Map<string, Given>;

	constructor(key: string) {
		this.#key = key;
		this.#given = load(key);
	}

	readonly of = (question: Annotation): Given | null => this.#given.get(idOf(question)) ?? null;

	give(question: Annotation, answer: string): void {
		this.#given.set(idOf(question), { answer, time: new Date().toISOString() });
		try {
			localStorage.setItem(this.#key, JSON.stringify(Object.fromEntries(this.#given)));
		} catch {
			// Storage is full or forbidden: the answers last as long as the page.
		}
	}

	/** Whether the reader has still to answer this; a note without a question needs no answer. */
	readonly isOpen = (annotation: Annotation): boolean => annotation.ask !== "" && !this.of(annotation);

	save({ name, annotations }: Meta): void {
		const questions = annotations.filter(({ ask }) => ask);
		const record = {
			run: name,
			questions: questions.map((question) => ({
				at: question.at,
				variant: question.variant + 1,
				question: question.ask,
				choices: question.choices,
				expected: question.answer || null,
				answer: this.of(question)?.answer ?? null,
				time: this.of(question)?.time ?? null,
			})),
		};
		saveFile(`${name}-answers.json`, JSON.stringify(record, null, 2));
	}
}

const opened = new Map<string, Answers>();

/** The answers to the questions of a run. All its views share them. */
export function answersOf({ key, digest }: Pick<RunEntry, "key" | "digest">): Answers {
	const place = `agent_nb.answers ${key} ${digest}`;
	const answers = opened.get(place) ?? new Answers(place);
	opened.set(place, answers);
	return answers;
}

export function idOf({ variant, at, ask }: Annotation): string {
	return `${variant} ${at} ${ask}`;
}

/** Returns no answers where storage is forbidden or holds something else. */
function load(key: string): Map<string, Given> {
	try {
		const stored = JSON.parse(localStorage.getItem(key) ?? "{}") as Record<string, Partial<Given>>;
		return new Map(
			Object.entries(stored).flatMap(([id, { answer, time }]) =>
				typeof answer === "string" && typeof time === "string" ? [[id, { answer, time }]] : [],
			),
		);
	} catch {
		return new Map();
	}
}
