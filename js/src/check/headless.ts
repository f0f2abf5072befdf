// The script that headless Chromium runs in the page for the kernel; see `agent_nb/pages/chromium.py`.

export { elementStyles } from "./element.ts";
export { findProblems } from "./findings.ts";
export { findOverflow } from "./overflow.ts";
export { settle, within } from "./settle.ts";
