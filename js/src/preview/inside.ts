// Runs inside the preview's frame, before the generated page: writes the page as it arrives, tells what it logs
// and throws, and keeps it in its place. The frame has an opaque origin; this is convenience, not the sandbox.

import { Idiomorph } from "idiomorph";
import {
	type ConsoleLevel,
	type FromFrame,
	type Hello,
	LEVELS,
	LONGEST,
	MOST_PER_SECOND,
	type ToFrame,
} from "./messages.ts";

/** The shell sets it in front of this script. */
declare const agentNbSecret: string;

const channel = new MessageChannel();
const port = channel.port1;

// What the page could put itself in the place of, to get at the port or at what listens here, is taken before it runs.
const { apply } = Reflect;
const post: (message: FromFrame) => void = port.postMessage.bind(port);
const say = (message: FromFrame): void => post(message);
const readData = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data")?.get as () => ToFrame;
const onWindow = window.addEventListener.bind(window);
const onDocument = document.addEventListener.bind(document);

function describe(value: unknown): string {
	if (typeof value === "string") return value;
	if (value instanceof Error) return `${value.name}: ${value.message}`;
	if (value instanceof Element) return `<${value.localName}>`;
	try {
		return JSON.stringify(value) ?? String(value);
	} catch {
		return String(value);
	}
}

const UNSENT = "The preview sends no forms.";
/** Lines about what the policy has blocked in one load. */
const MOST_BLOCKED = 50;

let second = 0;
let told = 0;

/** A page that logs without end must not drown the widget: the rest of that second is left out. */
function tell(level: ConsoleLevel, text: string, where: { line?: number; script?: string } = {}): void {
	const now = Math.floor(performance.now() / 1000);
	told = now === second ? told + 1 : 1;
	second = now;
	if (told > MOST_PER_SECOND) return;
	const shown = told === MOST_PER_SECOND ? "(more messages than can be shown)" : text.slice(0, LONGEST);
	const { line, script } = where;
	say({ is: "console", entry: { level, text: shown, ...(line && { line }) }, ...(script && { script }) });
}

function hookConsole(): void {
	for (const level of LEVELS) {
		const original = console[level].bind(console);
		console[level] = (...values: unknown[]) => {
			tell(level, values.map(describe).join(" "));
			original(...values);
		};
	}
}

/** What a page may call and the sandbox would refuse with an exception or in silence. */
function softenRefusals(): void {
	window.alert = (text?: unknown) => tell("info", `alert: ${describe(text ?? "")}`);
	window.confirm = (text?: unknown) => {
		tell("info", `confirm: ${describe(text ?? "")} (answered no)`);
		return false;
	};
	window.prompt = (text?: unknown) => {
		tell("info", `prompt: ${describe(text ?? "")} (answered nothing)`);
		return null;
	};
	window.open = () => {
		tell("warn", "The preview does not open windows.");
		return null;
	};
	// It fires no event, and a form that is refused by the policy would leave an error in place of the page.
	HTMLFormElement.prototype.submit = () => tell("warn", UNSENT);
	for (const name of ["localStorage", "sessionStorage"]) {
		Object.defineProperty(window, name, { value: memoryStorage(), configurable: true });
	}
}

/** No policy covers these connections. A frame that the page makes has its own, which is out of reach from here. */
function removePeerConnections(): void {
	for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) Reflect.deleteProperty(window, name);
}

/** Storage that lasts as long as the frame: an opaque origin has none of its own. */
function memoryStorage(): Storage {
	const items = new Map<string, string>();
	return {
		get length() {
			return items.size;
		},
		key: (index) => [...items.keys()][index] ?? null,
		getItem: (key) => items.get(String(key)) ?? null,
		setItem: (key, value) => void items.set(String(key), String(value)),
		removeItem: (key) => void items.delete(String(key)),
		clear: () => items.clear(),
	};
}

/** A page that is not looked at leaves the keyboard where it is. */
function leaveTheFocus(): void {
	for (const { prototype } of [HTMLElement, SVGElement, MathMLElement]) {
		const { focus } = prototype;
		prototype.focus = function (options) {
			if (document.hasFocus()) focus.call(this, options);
		};
	}
}

const onError = (event: ErrorEvent): void => {
	// In a written document a script's lines count from its own tag: the widget knows where that is.
	const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript.text : "";
	if (event.message) tell("error", event.message, { line: event.lineno, script });
};
const onRejection = (event: PromiseRejectionEvent): void =>
	tell("error", `Unhandled ${describe(event.reason)}`);
const blocked = new Set<string>();

/** One line for each host and directive: a page may try the same again and again. */
function onViolation(event: SecurityPolicyViolationEvent): void {
	const { blockedURI, effectiveDirective } = event;
	const key = `${effectiveDirective} from ${hostOf(blockedURI)}`;
	if (blocked.has(key) || blocked.size > MOST_BLOCKED) return;
	blocked.add(key);
	if (blocked.size > MOST_BLOCKED) tell("warn", "Blocked by the sandbox: more than is listed here");
	else tell("warn", `Blocked by the sandbox: ${key} (${blockedURI})`);
}

function hostOf(address: string): string {
	return URL.parse(address)?.host || address;
}

/** Forms have their events; what the page does not cancel itself is not sent either. */
function onSubmit(event: SubmitEvent): void {
	const form = event.target;
	if (event.defaultPrevented || !(form instanceof HTMLFormElement)) return;
	const method = event.submitter?.getAttribute("formmethod") ?? form.getAttribute("method");
	if (method?.toLowerCase() === "dialog") return;
	event.preventDefault();
	tell("info", UNSENT);
}

const onLeave = (): void => say({ is: "leaving" });
const onPress = (event: PointerEvent): void => {
	if (event.isTrusted) say({ is: "pressed" });
};

/** By name: a link in a drawing is another class. */
const LINKS: ReadonlySet<string> = new Set(["a", "area"]);

function decoded(fragment: string): string {
	try {
		return decodeURIComponent(fragment);
	} catch {
		return fragment;
	}
}

/** Links stay in the frame: anchors scroll, other pages are the widget's business. */
function onClick(event: MouseEvent): void {
	// What the page has dealt with itself is done.
	if (event.defaultPrevented) return;
	const path = event.composedPath().filter((node) => node instanceof Element);
	const link = path.find((element) => LINKS.has(element.localName));
	const href = link?.getAttribute("href") ?? link?.getAttribute("xlink:href");
	if (href === null || href === undefined || href.startsWith("javascript:")) return;
	event.preventDefault();
	if (!href.startsWith("#")) {
		say({ is: "link", href: href.slice(0, LONGEST) });
		return;
	}
	const target = href === "#" ? document.documentElement : document.getElementById(decoded(href.slice(1)));
	target?.scrollIntoView({ behavior: "smooth" });
}

/** `document.open` forgets every listener; adding one that is there changes nothing. */
function listen(): void {
	onWindow("error", onError);
	onWindow("unhandledrejection", onRejection);
	onWindow("pagehide", onLeave);
	onWindow("pointerdown", onPress, true);
	onDocument("securitypolicyviolation", onViolation);
	onDocument("click", onClick);
	onWindow("submit", onSubmit);
}

const parse = (html: string): Document => new DOMParser().parseFromString(html, "text/html");

/** Changes the page in place, unless its scripts have changed it already: then only a fresh load is right. */
function morph(from: string, to: string): void {
	const [old, next] = [parse(from), parse(to)];
	const sameBody = old.body.isEqualNode(next.body);
	if (!sameBody && !old.body.isEqualNode(document.body)) {
		say({ is: "unmorphable" });
		return;
	}
	Idiomorph.morph(document.head, next.head, { morphStyle: "innerHTML" });
	if (!sameBody) Idiomorph.morph(document.body, next.body, { ignoreActiveValue: true });
}

function obey(message: ToFrame): void {
	switch (message.do) {
		case "open":
			document.open();
			listen();
			break;
		case "write":
			document.write(message.text);
			say({ is: "wrote", body: Boolean(document.body?.childNodes.length) });
			break;
		case "close":
			document.close();
			say({ is: "wrote", body: true });
			break;
		case "morph":
			morph(message.from, message.to);
			break;
		case "scroll":
			window.scrollTo({ left: message.x, top: message.y, behavior: "instant" });
			break;
		case "ping":
			listen();
			say({ is: "alive", x: window.scrollX, y: window.scrollY });
			break;
	}
}

hookConsole();
softenRefusals();
removePeerConnections();
leaveTheFocus();
listen();
port.onmessage = (event) => obey(apply(readData, event, []));
window.parent.parent.postMessage({ agent_nb_preview: agentNbSecret } satisfies Hello, "*", [channel.port2]);
