// The messages between the page and the kernel; `docs/widget-protocol.md` explains them.

import type { Event, Meta } from "./events.ts";

export interface Batch {
	kind: "batch";
	run: string;
	session: string;
	first: number;
	last: number;
	events: Event[];
	meta?: Meta;
}

/** What `agent_nb/notebook/live/packing.py` makes of an event: `unpack.ts` undoes it. */
export type Item = Event | string | number | [variant: number, text: string] | Guess;
export type Guess = [variant: number, cost: number | null, input: number, ...counts: number[]];

/** A batch that tells everything about itself; its number stands for run and session in those that follow. */
export interface WholeBatch extends Omit<Batch, "events"> {
	channel?: number;
	events: Item[];
}

/** A batch that follows others of its channel. */
export type PackedBatch = [channel: number, first: number, count: number, ...items: Item[]];

/** More of the newest text, in the channel of the batch before: a digit of how many events, one of how much later. */
export type Words = string;

export interface Ready {
	kind: "ready";
	run: string;
	session: string;
	line: string;
	paths?: string[];
	error?: string;
	/** What the files are bound to, or null. */
	files_name?: string | null;
	/** The variant that the names hold. */
	variant?: number;
	/** True once the person has picked it. */
	picked?: boolean;
	outcome?: string;
}

export type Answer = { kind: "answer"; id: string; ok: true } & Record<string, unknown>;
export type Refusal = { kind: "answer"; id: string; ok: false; error: string };
export type FromKernel = Batch | Ready | Answer | Refusal;
/** As it travels. */
export type Message = WholeBatch | PackedBatch | Words | Ready | Answer | Refusal;

export type CommandName =
	| "hello"
	| "resync"
	| "stop"
	| "approve"
	| "deny"
	| "pick"
	| "file"
	| "request"
	| "preview_report";

export type Send = (message: Record<string, unknown>) => void;

/** The same for every load of this window, so that a reload keeps its right to stop and approve. */
function windowId(): string {
	try {
		const known = sessionStorage.getItem("anb-window") ?? randomId();
		sessionStorage.setItem("anb-window", known);
		return known;
	} catch {
		return randomId(); // storage may be forbidden
	}
}

/** Sends commands and matches the answers to them. */
export class Link {
	readonly #send: Send;
	readonly #client = windowId();
	/** Of this load alone: an answer to the load before must not match. */
	readonly #load = randomId();
	readonly #waiting = new Map<string, (answer: Answer | Refusal) => void>();
	#count = 0;

	constructor(send: Send) {
		this.#send = send;
	}

	/** The kernel's answer. It may come late, or never: the kernel can be busy or gone. */
	command(
		command: CommandName,
		run: string,
		fields: Record<string, unknown> = {},
	): Promise<Answer | Refusal> {
		const id = `${this.#load}-${++this.#count}`;
		return new Promise((resolve) => {
			this.#waiting.set(id, resolve);
			this.#send({ kind: "command", id, client: this.#client, command, run, ...fields });
		});
	}

	receive(answer: Answer | Refusal): void {
		this.#waiting.get(answer.id)?.(answer);
		this.#waiting.delete(answer.id);
	}
}

function randomId(): string {
	return Math.random().toString(36).slice(2, 10);
}
