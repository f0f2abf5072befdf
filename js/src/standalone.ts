// Defines `notebook` in a page without a kernel that Python has framed, as in saved outputs and exports.

import { defineNotebook } from "./page/notebook.ts";
import type { Bound } from "./run/bound-messages.ts";
import type { BoundName } from "./run/events.ts";

/** Set by the document before this script. */
declare const agentNbBound: { names: BoundName[]; saved: Bound["saved"] };

defineNotebook({ ...agentNbBound, port: null });
