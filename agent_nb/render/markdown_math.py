"""Formulas between dollars, whose text Markdown leaves alone. The page has the same rules: js/src/markdown/math.ts."""

import html
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

# `$$x$$`, or `$x$` with no space inside of the dollars and no digit after them, so that prices stay text.
_FORMULA = re.compile(r"\$\$(?:[^$\\]|\\.)+\$\$|\$(?![\s$])(?:[^$\\]|\\.)*?(?<!\s)\$(?![0-9$])", re.DOTALL)


def add_math(parser: "MarkdownIt") -> None:
    ends = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.before("fence", "math", _formula_block, {"alt": ends})
    parser.inline.ruler.before("escape", "math", _inline_formula)
    parser.add_render_rule("math", _show)


def _inline_formula(state: "StateInline", silent: bool) -> bool:
    found = _FORMULA.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        state.push("math", "", 0).content = found[0]
    state.pos = found.end()
    return True


def _formula_block(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """A paragraph from a line `$$` to a line that ends with `$$`, whatever the lines between look like."""
    if state.is_code_block(start) or _line(state, start) != "$$":
        return False
    if silent:
        return True
    after = start + 1
    while after < end and not state.isEmpty(after) and state.sCount[after] >= state.blkIndent:
        after += 1
        if _line(state, after - 1).endswith("$$"):
            break
    state.line = after
    state.push("paragraph_open", "p", 1).map = [start, after]
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start, after, state.blkIndent, False).strip()
    inline.map, inline.children = [start, after], []
    state.push("paragraph_close", "p", -1)
    return True


def _line(state: "StateBlock", number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].strip()


def _show(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    return html.escape(tokens[index].content, quote=False)
