// Runs inside the preview's frame with each change of its page, and gives its script what it needs for that.

import { Idiomorph } from "idiomorph";

/** What the code of a change gives to the script of the frame. */
export interface Morphing {
	morph?: typeof Idiomorph.morph;
}

declare const given: Morphing;

given.morph = Idiomorph.morph;
