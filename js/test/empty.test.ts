import { expect, test } from "vitest";
import { hasBody } from "../src/view/result/preview.ts";

test.each([
	["", false],
	["<!doctype html><html><head><meta charset=utf-8><title>Lyon", false],
	["<title>Lyon</title><style>body { color: red }", false],
	["<head><style>p {}</style></head><body class='a'><main><!-- soon", false],
	["<style>p {}</style><body><p>Hi", true],
	["<style>p {}</style><body><img src=a.png>", true],
	["<div id=root></div><script src=app.js></script>", true],
])("%j has something to see: %j", (html, expected) => {
	expect(hasBody(html)).toBe(expected);
});
