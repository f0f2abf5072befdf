// Runs in the frame of a tab of its own, and writes the page into it as the live preview does.

import { prepare } from "../../../agent_nb/render/page.js";

/** The document around the frame sets it in front of this script. */
declare const agentNbPage: string;

const listen = prepare();
// While the parser runs a script, `document.open` does nothing.
document.addEventListener("DOMContentLoaded", () => {
	document.open();
	listen();
	document.write(agentNbPage);
	document.close();
});
