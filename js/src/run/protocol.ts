// The messages between the page and the kernel; `docs/internals/widget-protocol.md` explains them.

import { load, store } from "../base/storage.ts";
import type { FromStore } from "./bound-messages.ts";
import type { Event, Meta, Ready } from "./events.ts";

export interface Batch {
	kind: "batch";
	run_id: string;
	/** The run's events that this batch covers, counted from 1. */
	first: number;
	last: number;
	/** Their wire forms without `run_id` and `seq`. There may be fewer: some are not for the page. */
	events: Event[];
	/** Set in every batch that starts with the first event. */
	meta?: Meta;
}

export interface ReadyMessage extends Ready {
	kind: "ready";
	run_id: string;
}

/** The variants in which the user has allowed code to run without approval. */
export interface RunningCodeMessage {
	kind: "running_code";
	run_id: string;
	variants: number[];
}

/** Asks a window to check a page for the model; it answers with the command `checked`. */
export interface CheckMessage {
	kind: "check";
	run_id: string;
	window: number;
	check_id: string;
	variant: number;
	path: string;
	widths: number[];
	/** A page, not necessarily from the run, and its elements to check. */
	html?: string;
	selectors?: string[];
}

/** Asks for cells of the notebook; every window that has the cell `own` answers with the command `notebook`. */
export interface NotebookMessage {
	kind: "notebook";
	request_id: string;
	own: string;
	/** The numbers or ids of the cells; null for an outline of all. */
	only: (number | string)[] | null;
}

/** A message to a view of a bound page; `bound-messages.ts` has its forms. */
export interface BoundMessage {
	kind: "bound";
	run_id: string;
	variant: number;
	message: FromStore & { view: string };
}

export type Answer = { kind: "answer"; id: string; ok: true } & Record<string, unknown>;
export type Refusal = {
	kind: "answer";
	id: string;
	ok: false;
	error: string;
	fields?: Record<string, string> | undefined;
};
export type FromKernel =
	| Batch
	| ReadyMessage
	| RunningCodeMessage
	| CheckMessage
	| BoundMessage
	| NotebookMessage
	| Answer
	| Refusal;

export type CommandName =
	| "hello"
	| "resync"
	| "under_way"
	| "stop"
	| "approve"
	| "deny"
	| "try"
	| "apply"
	| "unapply"
	| "ask_again"
	| "show_output"
	| "pick"
	| "file"
	| "paste_image"
	| "request"
	| "undo_python"
	| "cells"
	| "keep"
	| "notebook"
	| "decide"
	| "verify"
	| "result"
	| "element"
	| "preview_report"
	| "bound"
	| "check_code"
	| "on_screen"
	| "checked";

export type Send = (message: Record<string, unknown>) => void;

/** A secret id per browser window. It survives a reload, so that the window finds its runs again. */
function windowId(): string {
	const id = String(load("sessionStorage", "anb-window") ?? randomId());
	store("sessionStorage", "anb-window", id);
	return id;
}

/** An active run that this window had before it was reloaded. */
export interface LostRun {
	readonly run_id: string;
	/** The cell that started it, by its id in the notebook. */
	readonly cell_id: string;
	/** The cell's output, by MIME type. */
	readonly data: Readonly<Record<string, string>>;
}

/** Sends commands and matches the answers to them. */
export class KernelLink {
	readonly #send: Send;
	readonly #client = windowId();
	/** The kernel's public number for this window; null until it has answered `hello`. */
	window: number | null = null;
	/** Part of every command's id, so that answers to an earlier load of the page do not match. */
	readonly #load = randomId();
	readonly #waiting = new Map<string, (answer: Answer | Refusal) => void>();
	#count = 0;

	constructor(send: Send) {
		this.#send = send;
	}

	/**
	 * Resolves to the kernel's answer. It may come late, or never: the kernel can be busy or gone. A command about a
	 * run has its `run_id`, or only the `key` that its output carries.
	 */
	command(command: CommandName, fields: Record<string, unknown> = {}): Promise<Answer | Refusal> {
		const id = `${this.#load}-${++this.#count}`;
		return new Promise((resolve) => {
			this.#waiting.set(id, resolve);
			this.#send({ kind: "command", id, client: this.#client, command, ...fields });
		});
	}

	receive(answer: Answer | Refusal): void {
		this.#waiting.get(answer.id)?.(answer);
		this.#waiting.delete(answer.id);
	}
}

function randomId(): string {
	const words = crypto.getRandomValues(new Uint32Array(4));
	return Array.from(words, (word) => word.toString(36)).join("");
}
