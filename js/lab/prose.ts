// Displays prompts as prose: the lines below `%%agent` are not highlighted as Python.

import { shared } from "./jupyter.ts";

interface CodeView {
	readonly state: {
		readonly doc: {
			readonly lines: number;
			line(number: number): { readonly from: number; readonly text: string };
		};
	};
}

interface ViewModule {
	readonly Decoration: {
		line(spec: { class: string }): { range(from: number): unknown };
		set(ranges: readonly unknown[]): unknown;
	};
	readonly ViewPlugin: {
		fromClass(
			plugin: new (view: CodeView) => object,
			spec: { decorations(value: unknown): unknown },
		): unknown;
	};
	readonly EditorView: { baseTheme(spec: Record<string, Record<string, string>>): unknown };
}

export interface EditorExtensions {
	addExtension(extension: { name: string; factory(): unknown }): void;
}

interface CodeMirrorModule {
	readonly EditorExtensionRegistry: { createImmutableExtension(extension: unknown): unknown };
}

const PROMPT = /^\s*%%agent\b/;
const NORMAL = "normal !important";
const PLAIN = { color: "inherit !important", fontStyle: NORMAL, fontWeight: NORMAL };

/** Registers the editor extension. The cells of a renamed magic keep Python's colours. */
export async function addProse(registry: EditorExtensions): Promise<void> {
	const [{ Decoration, ViewPlugin, EditorView }, { EditorExtensionRegistry }] = await Promise.all([
		shared<ViewModule>("@codemirror/view"),
		shared<CodeMirrorModule>("@jupyterlab/codemirror"),
	]);
	const line = Decoration.line({ class: "anb-prose" });

	function marked({ doc }: CodeView["state"]): unknown {
		if (!PROMPT.test(doc.line(1).text)) return Decoration.set([]);
		const numbers = Array.from({ length: doc.lines - 1 }, (_, index) => index + 2);
		return Decoration.set(numbers.map((number) => line.range(doc.line(number).from)));
	}

	class Prose {
		decorations: unknown;
		constructor(view: CodeView) {
			this.decorations = marked(view.state);
		}
		update(update: CodeView & { docChanged: boolean }): void {
			if (update.docChanged) this.decorations = marked(update.state);
		}
	}

	const plugin = ViewPlugin.fromClass(Prose, { decorations: (value) => (value as Prose).decorations });
	const theme = EditorView.baseTheme({ "body:not(.agent-nb-no-prose) & .anb-prose span": PLAIN });
	registry.addExtension({
		name: "agent-nb:prose",
		factory: () => EditorExtensionRegistry.createImmutableExtension([plugin, theme]),
	});
}
