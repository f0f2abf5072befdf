import { expect, test } from "vitest";
import cases from "../../tests/support/plain_html.json";
import { createPlainHtml } from "../src/view/transcript/outputs.ts";

test.each(cases.plain)("%s is drawn as %s", (html, drawn) => {
	expect(createPlainHtml(html)?.innerHTML).toBe(drawn);
});

test.each(cases.framed)("%s needs a frame", (html) => {
	expect(createPlainHtml(html)).toBeNull();
});
