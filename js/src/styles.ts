// The styles, shared by every mount.

import base from "./styles/base.css";
import frame from "./styles/frame.css";
import motion from "./styles/motion.css";
import result from "./styles/result.css";
import timeline from "./styles/timeline.css";

let sheet: CSSStyleSheet | null = null;

export function adoptStyles(root: ShadowRoot): void {
	if (!sheet) {
		sheet = new CSSStyleSheet();
		sheet.replaceSync([base, frame, timeline, result, motion].join("\n"));
	}
	root.adoptedStyleSheets = [sheet];
}
