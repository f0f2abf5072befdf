// Changes a page in place. This is a module of its own, which the widget loads when a page is first edited: a page that
// is written once needs none of it.

import code from "./morph-inside.ts?bundle";

export { code };
