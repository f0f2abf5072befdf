// What headless Chromium runs in the page for the kernel, apart from the page's own scripts: `agent_nb/chromium/page.py`.

export { elementStyles } from "./element.ts";
export { findProblems } from "./findings.ts";
