// A standalone replay: the widget with one finished run and no kernel. The document contains the data that would be
// requested from the kernel. `agent_nb/run/replay_file.py` writes it.

import { h, icon } from "./base/dom.ts";
import { FEATURES } from "./features/index.ts";
import { adoptStyles, createSheet } from "./host/styles.ts";
import type { Answer, Batch, Refusal } from "./run/protocol.ts";
import { Runs } from "./run/runs.ts";
import { type Choices, newChoices } from "./view/choices.ts";
import { openReplay } from "./view/replay/player.ts";
import { createApp } from "./view/shell/app.ts";
import own from "./view/styles/replay-file.css";

interface Turn {
	/** The pool index of each field of the request. */
	fields: Record<string, number>;
	messages: number[];
	/** Number of messages already sent with the previous turn. */
	known: number;
}

interface BinaryFile {
	path: string;
	version: number;
	media_type: string;
	base64: string;
}

export interface ReplayRecord {
	batch: Batch;
	/** By variant, then by the number of the turn. */
	requests: { pool: unknown[]; turns: Record<string, Turn>[] };
	/** By variant. */
	files: BinaryFile[][];
	/** The bound values of each variant's page, as JSON. */
	bound: Record<string, string>[];
}

/** Shows a recorded run in an element, at the end of its replay. */
export function showReplay(place: Element, record: ReplayRecord, signal: AbortSignal): void {
	const runs = new Runs((message) => {
		const { id } = message;
		const answer = answerTo(record, message);
		const refusal = { ok: false, error: "A replay has no kernel." };
		queueMicrotask(() => runs.receive({ kind: "answer", id, ...(answer ?? refusal) } as Answer | Refusal));
	});
	const { batch } = record;
	runs.receive(batch);
	const run = runs.get(batch.meta?.key ?? "");
	run.saved = record.bound;
	const choices = newChoices();
	const toEnd = (): void => moveTo(choices, "length");
	if (run.state?.variants.size === 1) openReplay({ run, choices, redraw: toEnd });
	addEventListener("beforeprint", toEnd, { signal }); // and then the app draws
	const root = place.attachShadow({ mode: "open" });
	adoptStyles(root);
	root.adoptedStyleSheets.push(createSheet(own));
	root.append(createApp({ run, features: FEATURES, choices, signal }));
	// Space plays.
	root.querySelector<HTMLElement>(".anb-scrubber .anb-range")?.focus({ preventScroll: true });
	if (choices.replay) offerStart(root, choices);
}

/** Moves an open replay to its start or its end. */
function moveTo({ replay }: Choices, place: "start" | "length"): void {
	if (!replay) return;
	const count = replay.tape[place];
	Object.assign(replay, { count, time: replay.tape.timeAt(count), playing: false });
}

/** The answer that a kernel would send; null for commands that need a kernel. */
function answerTo(record: ReplayRecord, message: Record<string, unknown>): object | null {
	const variant = Number(message.variant ?? 0);
	if (message.command === "request") return requestOf(record.requests, variant, String(message.step));
	return message.command === "file" ? fileOf(record.files[variant] ?? [], message) : null;
}

function requestOf({ pool, turns }: ReplayRecord["requests"], variant: number, step: string): object | null {
	const turn = turns[variant]?.[step];
	if (!turn) return null;
	const fields = Object.entries(turn.fields).map(([name, place]) => [name, pool[place]]);
	const messages = turn.messages.map((place) => pool[place]);
	return { ok: true, ...Object.fromEntries(fields), messages, known: turn.known };
}

function fileOf(files: readonly BinaryFile[], { path, version }: Record<string, unknown>): object | null {
	const match = files.find((file) => file.path === path && file.version === version);
	return match ? { ok: true, ...match } : null;
}

const data = document.querySelector('script[type="application/json"]');
const place = document.querySelector("main");
if (data && place)
	showReplay(place, JSON.parse(data.textContent ?? "") as ReplayRecord, new AbortController().signal);

/** A button above the scrubber, which plays the run from its start. Pressing anything else removes it, too. */
function offerStart(root: ShadowRoot, choices: Choices): void {
	const play = h("button", { class: "anb-btn primary sm" }, icon("play"), "Play from the start");
	const offer = h("p", { class: "anb-offer" }, play);
	const leave = (event: Event): void => {
		if (!event.composedPath().includes(offer)) offer.remove();
	};
	for (const type of ["keydown", "pointerdown"]) root.addEventListener(type, leave, true);
	play.addEventListener("click", () => {
		moveTo(choices, "start");
		offer.remove();
		root.querySelector<HTMLElement>('.anb-scrubber [aria-label="Play"]')?.click();
		root.querySelector<HTMLElement>(".anb-scrubber .anb-range")?.focus({ preventScroll: true });
	});
	root.querySelector(".anb-scrubber")?.prepend(offer);
}
