// Defines `notebook` in a page without a kernel that Python has framed, as in saved outputs and exports.

import type { BoundName } from "../events.ts";
import type { Bound } from "./messages.ts";
import { defineNotebook } from "./notebook.ts";

/** Set by the document before this script. */
declare const agentNbBound: { names: BoundName[]; saved: Bound["saved"] };

defineNotebook({ ...agentNbBound, port: null });
