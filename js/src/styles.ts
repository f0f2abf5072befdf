// The styles, shared by every mount.

import inspect from "./inspect/inspect.css";
import base from "./styles/base.css";
import cards from "./styles/cards.css";
import composer from "./styles/composer.css";
import console from "./styles/console.css";
import frame from "./styles/frame.css";
import header from "./styles/header.css";
import images from "./styles/images.css";
import markdown from "./styles/markdown.css";
import motion from "./styles/motion.css";
import narrow from "./styles/narrow.css";
import replay from "./styles/replay.css";
import result from "./styles/result.css";
import steps from "./styles/steps.css";
import timeline from "./styles/timeline.css";
import annotations from "./view/replay/annotations.css";
import scrubber from "./view/replay/scrubber.css";
import approval from "./view/transcript/approval.css";
import request from "./view/transcript/request-parts.css";
import strip from "./view/variants/strip.css";
import variants from "./view/variants/variants.css";

let sheet: CSSStyleSheet | null = null;

export function adoptStyles(root: ShadowRoot): void {
	if (!sheet) {
		sheet = new CSSStyleSheet();
		sheet.replaceSync(
			[
				base,
				frame,
				header,
				timeline,
				cards,
				steps,
				images,
				markdown,
				result,
				console,
				composer,
				replay,
				narrow,
				motion,
				approval,
				strip,
				variants,
				request,
				scrubber,
				annotations,
				inspect,
			].join("\n"),
		);
	}
	root.adoptedStyleSheets = [sheet];
}
