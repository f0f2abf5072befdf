import { expect, test } from "vitest";
import { changes } from "../src/page/reveal.ts";

const PAGE = "<h1>Hi</h1><section><p>One</p><p>Two</p></section><footer><b>End</b></footer>";

function changed(html: string): string[] {
	const parse = (text: string): Element => new DOMParser().parseFromString(text, "text/html").body;
	return changes(parse(PAGE), parse(html)).map(({ outerHTML }) => outerHTML);
}

test.each([
	["nothing", PAGE, []],
	["a text", PAGE.replace("Two", "2"), ["<p>2</p>"]],
	["two places", PAGE.replace("Hi", "Ho").replace("End", "Fin"), ["<h1>Ho</h1>", "<b>Fin</b>"]],
	["an attribute", PAGE.replace("<b>", "<b id=x>"), ['<b id="x">End</b>']],
	["something new", PAGE.replace("<p>Two", "<p>New</p><p>Two"), ["<p>New</p>"]],
	["something gone", PAGE.replace("<p>One</p>", ""), ["<section><p>Two</p></section>"]],
	["another tag", PAGE.replaceAll("h1", "h2"), ["<h2>Hi</h2>"]],
])("an edit of %s is found", (_what, html, expected) => {
	expect(changed(html)).toEqual(expected);
});
