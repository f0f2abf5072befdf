// A few helpers in place of a framework.

import { type IconName, paths } from "./icons.ts";

export type Child = Node | string | null | undefined | false | 0;
type Props = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

/** Creates an element. Functions among the props (`onclick`) become listeners, the rest attributes. No button submits. */
export function h<K extends keyof HTMLElementTagNameMap>(
	tag: K,
	props: Props | null = null,
	...children: Child[]
): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	if (tag === "button") element.setAttribute("type", "button");
	for (const [name, value] of Object.entries(props ?? {})) {
		if (typeof value === "function") {
			element.addEventListener(name.slice(2).toLowerCase(), value as unknown as EventListener);
		} else if (value !== null && value !== undefined && value !== false) {
			element.setAttribute(name, value === true ? "" : String(value));
		}
	}
	for (const child of children) if (child) element.append(child);
	return element;
}

/** Listens until `signal` is aborted. */
export function listen<K extends keyof HTMLElementEventMap>(
	element: HTMLElement,
	type: K,
	signal: AbortSignal,
	listener: (event: HTMLElementEventMap[K]) => void,
): void {
	element.addEventListener(type, listener, { signal });
}

export function svg<K extends keyof SVGElementTagNameMap>(
	tag: K,
	attributes: Record<string, string | number>,
	...children: (Node | string)[]
): SVGElementTagNameMap[K] {
	const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
	element.append(...children);
	return element;
}

export function icon(name: IconName, extra = ""): SVGSVGElement {
	const dashes = name === "think" ? { "stroke-dasharray": "1.6 2.8" } : {};
	const path = svg("path", { d: paths[name], ...dashes });
	return svg("svg", { class: `i ${extra}`.trim(), viewBox: "0 0 16 16", "aria-hidden": "true" }, path);
}

/** Sets the text if it has changed; a no-op otherwise, to spare the browser a layout. */
export function setText(node: Node, text: string): void {
	if (node.textContent !== text) node.textContent = text;
}

/** Sets the text, or hides the element if there is none. */
export function showText(element: HTMLElement, text: string): void {
	setText(element, text);
	element.hidden = text === "";
}

/** Adds a value to a set, or removes it. */
export function toggle<T>(set: Set<T>, value: T, on: boolean): void {
	if (on) set.add(value);
	else set.delete(value);
}

export function setAttribute(element: Element, name: string, value: string | null): void {
	if (element.getAttribute(name) === value) return;
	if (value === null) element.removeAttribute(name);
	else element.setAttribute(name, value);
}

const keys = new WeakMap<Element, unknown>();

/** Replaces the children of an element, unless the last ones were created for the same key. */
export function setChildren(element: Element, key: unknown, create: () => (Node | string)[]): void {
	if (keys.has(element) && keys.get(element) === key) return;
	keys.set(element, key);
	element.replaceChildren(...create());
}

/** Sets a button's accessible name and tooltip. */
export function setLabel(element: Element, label: string, title = label): void {
	setAttribute(element, "aria-label", label);
	setAttribute(element, "title", title);
}

/** Whether the focus is inside an element. Code that hides the element must then move the focus, or it is lost. */
export function hasFocus(element: Element): boolean {
	return element.contains((element.getRootNode() as Document | ShadowRoot).activeElement ?? null);
}

export function moveFocus(element: HTMLElement | null | undefined): void {
	element?.focus({ preventScroll: true });
}

/** Converts `code spans` to <code>; everything else is plain text. */
export function withCode(text: string): Node[] {
	const pieces = text.split("`");
	if (pieces.length % 2 === 0) return [document.createTextNode(text)];
	return pieces.map((piece, index) => (index % 2 ? h("code", null, piece) : document.createTextNode(piece)));
}

export interface View<T> {
	readonly element: HTMLElement;
	update(value: T): void;
}

/** A view that is created when it is first needed. */
export function createLazyView<T, V extends View<T>>(
	isNeeded: (value: T) => boolean,
	create: (value: T) => V,
) {
	const element = h("div", { hidden: true });
	let view: V | null = null;
	return {
		element,
		get view() {
			return view;
		},
		update(value: T) {
			if (!view && isNeeded(value)) {
				view = create(value);
				element.replaceWith(view.element);
			}
			view?.update(value);
		},
	};
}

/** A list that keeps one element per key. The returned function updates each with its newest value. */
export function createKeyedList<T>(
	parent: HTMLElement,
	keyOf: (item: T) => string,
	create: (item: T) => View<T>,
): (items: readonly T[]) => void {
	const views = new Map<string, { view: View<T>; item: T }>();
	return (items) => {
		const keys = new Set(items.map(keyOf));
		for (const [key, { view }] of views) {
			if (keys.has(key)) continue;
			view.element.remove();
			views.delete(key);
		}
		for (const [index, item] of items.entries()) {
			const key = keyOf(item);
			const entry = views.get(key);
			if (entry?.item === item) continue;
			const view = entry?.view ?? create(item);
			view.update(item);
			views.set(key, { view, item });
			const at = parent.children[index] ?? null;
			if (at !== view.element) parent.insertBefore(view.element, at);
		}
	};
}

/** Returns a function that schedules `draw` for the next frame, at most once per frame. */
export function oncePerFrame(draw: () => void, signal: AbortSignal): () => void {
	let request = 0;
	signal.addEventListener("abort", () => cancelAnimationFrame(request), { once: true });
	return () => {
		if (request || signal.aborted) return;
		request = requestAnimationFrame(() => {
			request = 0;
			draw();
		});
	};
}
