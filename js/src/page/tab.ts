// Runs in the frame of a separate tab, and writes the page into it as the live preview does.

import { prepare } from "../../../agent_nb/pages/page.js";
import type { Bound } from "../run/bound-messages.ts";
import { defineNotebook } from "./notebook.ts";

/** Set by the document around the frame, before this script. */
declare const agentNbPage: { html: string; bound: Bound | null };

const listen = prepare();
// While the parser runs a script, `document.open` does nothing.
document.addEventListener("DOMContentLoaded", () => {
	document.open();
	listen();
	if (agentNbPage.bound) defineNotebook(agentNbPage.bound);
	document.write(agentNbPage.html);
	document.close();
});
