// Defines `notebook` in a page that the kernel has framed: in `run.page`, and in saved and exported pages.

import type { BoundName } from "../events.ts";
import type { Bound } from "./messages.ts";
import { defineNotebook } from "./notebook.ts";

/** Set by the document before this script; without saved values, the port is sent to the surrounding window. */
declare const agentNbBound: { names: BoundName[]; saved: Bound["saved"] | null };

const { names, saved } = agentNbBound;
const channel = saved ? null : new MessageChannel();
defineNotebook({ names, saved: saved ?? {}, port: channel?.port1 ?? null });
if (channel) window.parent.parent.postMessage({ agent_nb_page: true }, "*", [channel.port2]);
