// The styles of this module, added to those of the widget.

import { adopter } from "../sheets.ts";
import css from "./annotations.css";

export const adopt = adopter(css);
