declare module "*.css" {
	const text: string;
	export default text;
}

declare module "*?bundle" {
	const script: string;
	export default script;
}

declare module "*/pages/page.js" {
	/** Prepares the window for a page. Returns a function that adds its listeners again after `document.open`. */
	export function prepare(): () => void;
}

declare module "markdown-it/lib/rules_block/reference.mjs" {
	const rule: import("markdown-it/lib/parser_block.mjs").RuleBlock;
	export default rule;
}
