// The script that headless Chromium runs in the page for the kernel; see `agent_nb/pages/chromium.py`.

export { elementStyles } from "./page/check/element.ts";
export { findProblems } from "./page/check/findings.ts";
export { findOverflow } from "./page/check/overflow.ts";
export { settle, within } from "./page/check/settle.ts";
