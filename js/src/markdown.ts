// Markdown as it streams: what is finished is parsed once, the last blocks again with all that is added to them.

import { createElements, replaceFrom } from "./markdown/elements.ts";
import { parse, parseBlocks, type References, type Token } from "./markdown/parser.ts";
import { typesetFormulas } from "./markdown/typeset.ts";

/** Markdown that grows: `set` draws what is new, and starts over if the text is a different one. */
export class Markdown {
	readonly element: HTMLElement;
	#text = "";
	#ended = false;
	/** Characters of the blocks that are finished, and how many nodes they are. */
	#finished = 0;
	#nodes = 0;
	#references: References = {};

	constructor(element: HTMLElement) {
		this.element = element;
	}

	set(text: string, done: boolean): void {
		if (text === this.#text && done === this.#ended) return;
		if (this.#ended || !text.startsWith(this.#text)) this.#startOver();
		this.#text = text;
		this.#ended = done;
		this.#draw();
	}

	#startOver(): void {
		this.#finished = this.#nodes = 0;
		this.#references = {};
	}

	#draw(): void {
		const rest = this.#text.slice(this.#finished);
		const references: References = Object.create(this.#references);
		const tokens = parse(rest, references);
		// A definition counts for the text before it, too.
		if (this.#ended && this.#finished && anyIn(references)) {
			this.#startOver();
			this.#draw();
			return;
		}
		replaceFrom(this.element, this.#nodes, createElements(tokens, this.#ended));
		if (this.#ended) typesetFormulas(this.element);
		else this.#finish(rest, tokens);
	}

	/** Leaves alone from now on what no further text can change. */
	#finish(rest: string, tokens: readonly Token[]): void {
		const ends = [...rest.matchAll(/\r\n?|\n/g)].map(({ index, 0: { length } }) => index + length);
		const blocks = tokens.filter(({ level, nesting }) => level === 0 && nesting >= 0);
		const last = blocks.findLastIndex((block, index) => isSettled(block, blocks[index - 1], ends.length));
		const end = ends[(blocks[last]?.map?.[0] ?? 0) - 1];
		if (!end) return;
		parseBlocks(rest.slice(0, end), this.#references);
		this.#finished += end;
		this.#nodes += blocks.slice(0, last).filter(({ hidden }) => !hidden).length;
	}
}

/**
 * Whether a block will begin where it does. That is certain with its second line, which may make the first the head
 * of a table; and a line after a definition may become its title.
 */
function isSettled({ map }: Token, before: Token | undefined, lines: number): boolean {
	if (!map || map[0] + 2 > lines) return false;
	return before?.type !== "definition" || before.map?.[1] !== map[0];
}

function anyIn(references: References): boolean {
	for (const _ in references) return true;
	return false;
}
