// Checks a page for the model. Runs inside the frame of a check, before the page, and reports through its port.
// Each step has a timeout; failures are added to the report's notes.

import { collect } from "./collect.ts";
import { elementStyles } from "./element.ts";
import { findProblems } from "./findings.ts";
import type { CheckInput, FromCheck } from "./messages.ts";
import { findOverflow } from "./overflow.ts";
import { imageOf, keepDrawings, screenshot } from "./screenshot.ts";
import { now, pause, settle, within } from "./settle.ts";

/** Passed in by the frame's script. */
declare const given: CheckInput;

const PHONE = 390;
/** Milliseconds. */
const MOST = { settle: 3000, resize: 1000, screenshot: 8000, findings: 6000 };
/** Phones overlay scrollbars. A screenshot moves the root into another element, where inner margins would collapse. */
const STYLES = "html { scrollbar-width: none !important } :where(html) { display: flow-root }";

const { port, widths, selectors } = given;
// Saved before the page runs: it could replace it.
const post: (message: FromCheck) => void = port.postMessage.bind(port);
const note = (text: string): void => post({ part: { notes: [text] } });

/** Runs a step; adds the note `otherwise` if it fails or times out. */
async function step(limit: number, otherwise: string, run: () => Promise<void>): Promise<void> {
	try {
		if (!(await within(limit, run()))) note(otherwise);
	} catch (error) {
		note(`${otherwise} (${error instanceof Error ? error.message.slice(0, 100) : "error"})`);
	}
}

async function resize(width: number): Promise<void> {
	post({ width });
	const end = now() + MOST.resize;
	while (window.innerWidth !== width && now() < end) await pause(20);
}

function addStyles(): void {
	const sheet = new CSSStyleSheet();
	sheet.replaceSync(STYLES);
	document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

async function look(): Promise<void> {
	addStyles();
	for (const width of widths) {
		await resize(width);
		await step(MOST.settle, `The page had not settled after ${MOST.settle / 1000} s.`, settle);
		if (selectors.length) return lookAtElements();
		if (width === PHONE) post({ part: { overflow: findOverflow() } });
		await step(MOST.screenshot, `The screenshot at ${width} px failed.`, async () =>
			post({ part: { screenshots: [await screenshot()] } }),
		);
	}
	await step(MOST.findings, "Accessibility was not checked.", async () =>
		post({ part: { findings: await findProblems() } }),
	);
}

async function lookAtElements(): Promise<void> {
	const looks = elementStyles(selectors);
	for (const [index, look] of looks.entries()) {
		const element = document.querySelector(selectors[index] ?? "");
		let png = "";
		await step(MOST.screenshot, "There is no image of an element.", async () => {
			if (element) png = await imageOf(element);
		});
		post({ part: { elements: [look && { ...look, png }] } });
	}
}

keepDrawings();
collect(given, (part) => post({ part }));
void look()
	.catch((error) => note(`The check ended early: ${error}`))
	.then(() => post({ done: true }));
