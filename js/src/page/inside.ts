// Runs inside the preview's frame, before the generated page: writes the page as it streams, reports its console output
// and errors, and stops it from navigating. The actual sandbox is the frame's opaque origin and its policy.

import { Idiomorph } from "idiomorph";
import { prepare } from "../../../agent_nb/pages/page.js";
import { decoded, describe, hookConsole } from "./describe.ts";
import { Fields, resetSelects } from "./fields.ts";
import {
	type ConsoleLevel,
	type FrameAnswer,
	type FrameReports,
	type FrameRequest,
	type FrameRequests,
	type FromFrame,
	type Hello,
	LONGEST,
	MOST_PER_SECOND,
	type ToFrame,
} from "./messages.ts";
import { defineNotebook } from "./notebook.ts";
import { reveal } from "./reveal.ts";

/** Set by the shell before this script. */
declare const agentNbSecret: string;

const channel = new MessageChannel();
const port = channel.port1;

// Saved before the page runs: it could replace these to get at the port or at the listeners here.
const { apply } = Reflect;
const post: (message: FromFrame) => void = port.postMessage.bind(port);

const tell = <K extends keyof FrameReports>(kind: K, given: FrameReports[K]): void =>
	post({ tell: kind, given } as FromFrame);
const readData = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data")?.get as () => ToFrame;
const listenToPage = prepare();
const fields = new Fields();
const onWindow = window.addEventListener.bind(window);
const onDocument = document.addEventListener.bind(document);
const later = window.setTimeout.bind(window);

/** The file name that browsers report for an inline script. */
const ADDRESS = /^(about|data|blob|https?):/;
const UNSENT = "Forms are not submitted in the preview.";
/** Pixels per line, for mice that scroll by lines. */
const LINE = 16;
/** Milliseconds after a press, key or wheel event in which scrolling counts as the user's. */
const REST = 3000;
const DRAWN = "img, svg, canvas, video, input, button, select, textarea, meter, progress, hr";
/** Maximum milliseconds for a finished page to show something, and the poll interval. */
const MOST_WAITED = 1000;
const STEP = 30;
/** Maximum entries about blocked loads, per page load. */
const MOST_BLOCKED = 50;

interface ScriptPosition {
	line?: number;
	/** The text of the inline script that the line is in. */
	script?: string;
	/** The script's file, if it is not inline. */
	file?: string;
}

let second = 0;
let reported = 0;

/** Reports a console entry. Entries above the limit per second are dropped, so that a page cannot flood the widget. */
function report(level: ConsoleLevel, text: string, where: ScriptPosition = {}): void {
	const now = Math.floor(performance.now() / 1000);
	reported = now === second ? reported + 1 : 1;
	second = now;
	if (reported > MOST_PER_SECOND) return;
	const logged = reported === MOST_PER_SECOND ? "(more messages than can be shown)" : text.slice(0, LONGEST);
	const { line, script, file } = where;
	const entry = { level, text: logged, ...(line && { line }), ...(file && { file }) };
	tell("console", { entry, ...(script && { script }) });
}

/** Replaces functions that throw, or silently do nothing, in a sandbox. */
function softenRefusals(): void {
	window.alert = (text?: unknown) => report("info", `alert: ${describe(text ?? "")}`);
	window.confirm = (text?: unknown) => {
		report("info", `confirm: ${describe(text ?? "")} (answered no)`);
		return false;
	};
	window.prompt = (text?: unknown) => {
		report("info", `prompt: ${describe(text ?? "")} (answered nothing)`);
		return null;
	};
	window.open = () => {
		report("warn", "The preview does not open windows.");
		return null;
	};
	// It fires no event, and the policy would replace the page with an error.
	HTMLFormElement.prototype.submit = () => report("warn", UNSENT);
}

/** Prevents an unfocused page from taking the focus. */
function keepFocusOut(): void {
	for (const { prototype } of [HTMLElement, SVGElement, MathMLElement]) {
		const { focus } = prototype;
		prototype.focus = function (options) {
			if (document.hasFocus()) focus.call(this, options);
		};
	}
}

const onError = (event: ErrorEvent): void => {
	// In a document made by `document.write`, lines are counted from the script's tag, which the widget can locate.
	const inline = [...document.scripts].filter((script) => !script.src);
	const running = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;
	const script = (running ?? (inline.length === 1 ? inline[0] : null))?.text ?? "";
	const file = ADDRESS.test(event.filename) ? "" : decoded(event.filename);
	if (event.message) report("error", event.message, { line: event.lineno, script, file });
};
const onRejection = (event: PromiseRejectionEvent): void =>
	report("error", `Unhandled ${describe(event.reason)}`);
const blocked = new Set<string>();

/** Reports each host and directive once: a page may retry forever. */
function onViolation(event: SecurityPolicyViolationEvent): void {
	const { blockedURI, effectiveDirective } = event;
	const key = `${effectiveDirective} from ${URL.parse(blockedURI)?.host || blockedURI}`;
	if (blocked.has(key) || blocked.size > MOST_BLOCKED) return;
	blocked.add(key);
	if (blocked.size > MOST_BLOCKED)
		report("warn", "Blocked by the sandbox: further addresses, not listed here");
	else report("warn", `Blocked by the sandbox: ${key} (${blockedURI})`);
}

/** Cancels form submissions; their events still fire. */
function onSubmit(event: SubmitEvent): void {
	const form = event.target;
	if (event.defaultPrevented || !(form instanceof HTMLFormElement)) return;
	const method = event.submitter?.getAttribute("formmethod") ?? form.getAttribute("method");
	if (method?.toLowerCase() === "dialog") return;
	event.preventDefault();
	report("info", UNSENT);
}

const onLeave = (): void => tell("leaving", true);
/** Time of the user's last action that may scroll. */
let acted = Number.NEGATIVE_INFINITY;
const onAction = (event: Event): void => {
	if (event.isTrusted) acted = performance.now();
};
/** Time of the last scroll to an edit. */
let led = Number.NEGATIVE_INFINITY;
const isActing = (): boolean => performance.now() - acted < REST;
/** The scroll position set by the widget, which is not reported back. */
let placed = -1;
const scrollable = (): number => Math.max(1, document.documentElement.scrollHeight - innerHeight);
const onScroll = (): void => {
	if ((isActing() || performance.now() - led < REST) && Math.abs(scrollY - placed) > 1)
		tell("scrolled", scrollY / scrollable());
	placed = -1;
};
/** Whether the user has pressed something in the page since it got the focus. */
let used = false;
const onBlur = (): void => {
	used = false;
};
/** Until the page is pressed, the wheel scrolls the notebook instead. Ctrl with the wheel zooms. */
const onWheel = (event: WheelEvent): void => {
	if (!event.isTrusted || event.ctrlKey || used) return;
	event.preventDefault();
	event.stopImmediatePropagation();
	onAction(event);
	const by = event.deltaMode === event.DOM_DELTA_LINE ? event.deltaY * LINE : event.deltaY;
	tell("wheel", { by, to: scrollY + by });
};
const onPress = (event: PointerEvent): void => {
	used ||= event.isTrusted;
	if (event.isTrusted) tell("pressed", true);
};
const onKey = (event: KeyboardEvent): void => {
	if (!event.isTrusted) return;
	used = true;
	tell("typed", true);
	const { key, ctrlKey, metaKey, altKey, shiftKey, isComposing } = event;
	if (key.toLowerCase() === "s" && (ctrlKey || metaKey) && !altKey && !shiftKey) {
		event.preventDefault();
		event.stopImmediatePropagation();
		tell("save", true);
	}
	// The browser closes a dialog itself, and the page may handle the key.
	if (key !== "Escape" || isComposing || document.querySelector(":is(:modal, :popover-open)")) return;
	later(() => !event.defaultPrevented && tell("escaped", true));
};

/** Compared by name, because links in SVG are of another class. */
const LINKS: ReadonlySet<string> = new Set(["a", "area"]);

/** Cancels links to other pages and reports them: the widget decides what to do. */
function onClick(event: MouseEvent): void {
	// The page has handled it.
	if (event.defaultPrevented) return;
	const path = event.composedPath().filter((node) => node instanceof Element);
	const link = path.find((element) => LINKS.has(element.localName));
	const href = link?.getAttribute("href") ?? link?.getAttribute("xlink:href");
	if (href === null || href === undefined || /^(#|javascript:)/i.test(href)) return;
	event.preventDefault();
	tell("link", href.slice(0, LONGEST));
}

/** Called again after `document.open`, which removes every listener; adding one twice has no effect. */
function listen(): void {
	onWindow("error", onError);
	onWindow("unhandledrejection", onRejection);
	onWindow("pagehide", onLeave);
	onWindow("pointerdown", onPress, true);
	onWindow("blur", onBlur);
	onWindow("wheel", onWheel, { capture: true, passive: false });
	onWindow("keydown", onKey, true);
	onWindow("input", fields.onInput, true);
	onWindow("scroll", onScroll, { passive: true });
	for (const name of ["wheel", "touchmove", "keydown", "pointerdown"])
		onWindow(name, onAction, { capture: true, passive: true });
	onDocument("securitypolicyviolation", onViolation);
	onDocument("click", onClick);
	onWindow("submit", onSubmit);
	listenToPage();
}

const parse = (html: string): Document => new DOMParser().parseFromString(html, "text/html");

/** Changes the page in place. Returns false if its scripts have changed it, so that it must be reloaded. */
function change({ from, to, reveal: revealed }: FrameRequests["morph"]): boolean {
	const [old, next] = [parse(from), parse(to)];
	const sameBody = old.body.isEqualNode(next.body);
	if (!sameBody && !old.body.isEqualNode(document.body)) return false;
	Idiomorph.morph(document.head, next.head, { morphStyle: "innerHTML" });
	if (sameBody) return true;
	const filled = fields.take();
	resetSelects();
	Idiomorph.morph(document.body, next.body, { ignoreActiveValue: true });
	fields.put(filled);
	if (revealed) lead(old, next);
	return true;
}

/** Highlights an edit, and scrolls to it unless the user is scrolling or typing in the page. */
function lead(old: Document, next: Document): void {
	led = performance.now();
	const isTyping = document.hasFocus() && document.activeElement !== document.body;
	reveal(old, next, !isTyping && !isActing());
}

let shown = false;

/** Whether anything is visible: text, or an element that is drawn without text. */
function hasContent(): boolean {
	const body: HTMLElement | null = document.body;
	if (!body || /\S/.test(body.innerText)) return body !== null;
	return [...body.querySelectorAll(DRAWN)].some((element) => element.getClientRects().length);
}

/** Resolves once a finished page shows something, or after a timeout: it may stay empty. */
function content(): Promise<true> {
	return new Promise((resolve) => {
		const look = (waited: number): void => {
			const waits = document.readyState === "loading" || waited < MOST_WAITED;
			if (!shown && !hasContent() && waits) later(look, STEP, waited + STEP);
			else resolve(true);
		};
		look(0);
	});
}

/** The handlers of the widget's requests, which return the answers. */
const HANDLERS: {
	[K in FrameRequest]: (given: FrameRequests[K]) => FrameAnswer<K> | Promise<FrameAnswer<K>>;
} = {
	open(bound) {
		document.open();
		shown = false;
		listen();
		if (bound) defineNotebook(bound);
		return true;
	},
	write(text) {
		document.write(text);
		shown ||= hasContent();
		return shown;
	},
	close() {
		document.close();
		return content();
	},
	morph: change,
	reveal({ from, to }) {
		lead(parse(from), parse(to));
		return true;
	},
	scroll: ({ x, y }) => scroll({ left: x, top: y }),
	place(share) {
		placed = Math.round(share * scrollable());
		return scroll({ top: placed });
	},
	take: () => fields.take(),
	put(given) {
		fields.put(given);
		return true;
	},
	run({ code, given }) {
		new Function("given", code)(given);
		return true;
	},
	ping() {
		listen();
		return { x: window.scrollX, y: window.scrollY };
	},
};

function scroll(to: ScrollToOptions): true {
	window.scrollTo({ ...to, behavior: "instant" });
	return true;
}

/** Answers even if a handler has failed: the widget waits for it before it sends more of a page. */
async function handle({ id, ask, given }: ToFrame): Promise<void> {
	let answer: FrameAnswer<FrameRequest> | undefined;
	try {
		answer = await (
			HANDLERS[ask] as (given: unknown) => FrameAnswer<FrameRequest> | Promise<FrameAnswer<FrameRequest>>
		)(given);
	} finally {
		post({ id, answer });
	}
}

hookConsole(report);
softenRefusals();
keepFocusOut();
listen();
port.onmessage = (event) => void handle(apply(readData, event, []));
window.parent.parent.postMessage({ agent_nb_preview: agentNbSecret } satisfies Hello, "*", [channel.port2]);
