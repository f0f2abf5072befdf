// The styles of this module, added to those of the widget.

import { adopter } from "../sheets.ts";
import css from "./inspect.css";

export const adopt = adopter(css);
