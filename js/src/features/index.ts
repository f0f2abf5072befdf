// The views of features. `tsc` refuses a feature that shows something in Python and has no view here.

import type { FeatureData } from "../run/events.ts";
import type { FeatureView } from "../view/context.ts";
import { agree } from "./agree.ts";
import { answer } from "./answer.ts";
import { answers } from "./answers.ts";
import { branch } from "./branch.ts";
import { codeFirst } from "./code-first.ts";
import { numbers } from "./numbers.ts";

const VIEWS = { agree, answer, answers, branch, code_first: codeFirst, numbers } satisfies Record<
	keyof FeatureData,
	FeatureView
> &
	Record<string, FeatureView>;
export const FEATURES: readonly FeatureView[] = Object.values(VIEWS);
