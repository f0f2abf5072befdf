"""Makes Markdown from a model safe to show: no raw HTML, no images, only web and mail links."""

import html
import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


def to_html(markdown: str) -> str:
    return str(parser().render(markdown))


def with_code(text: str) -> str:
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return html.escape(text, quote=False)
    return "".join(
        f"<code>{html.escape(piece, quote=False)}</code>" if index % 2 else html.escape(piece, quote=False)
        for index, piece in enumerate(pieces)
    )


def link(url: str, title: str) -> str:
    """A link that opens in a new tab, or the title alone if the address is not safe."""
    if not is_safe_link(url):
        return html.escape(title)
    return f'<a href="{html.escape(url)}" target="_blank" rel="noopener noreferrer">{html.escape(title)}</a>'


def is_safe_link(url: str) -> bool:
    return _SAFE_LINK.match(url) is not None


@cache
def parser() -> "MarkdownIt":
    """CommonMark with tables and formulas, without HTML and images."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    made.validateLink = is_safe_link  # type: ignore[method-assign]
    made.normalizeLinkText = str  # type: ignore[method-assign, assignment]
    # Notebooks put the headings of outputs into their table of contents, where the model's do not belong.
    made.add_render_rule("heading_open", lambda *_: "<p><strong>")
    made.add_render_rule("heading_close", lambda *_: "</strong></p>\n")
    made.add_render_rule("link_open", _open_link)
    add_math(made)
    _show_deep_text(made)
    return made


def _show_deep_text(parser: "MarkdownIt") -> None:
    """Blocks beyond the parser's deepest level become a paragraph; markdown-it itself drops them."""
    tokenize = parser.block.tokenize

    def tokenize_or_flatten(state: "StateBlock", start: int, end: int) -> None:
        if state.level < parser.options.maxNesting:
            tokenize(state, start, end)
            return
        line = start
        while line < end and (state.isEmpty(line) or state.sCount[line] >= state.blkIndent):
            line += 1
        _push_paragraph(state, start, line)

    parser.block.tokenize = tokenize_or_flatten  # type: ignore[method-assign, assignment]


def _open_link(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    if not tokens[index].attrGet("href"):  # `[text]()`, which would open the notebook itself
        del tokens[index].attrs["href"]
    tokens[index].attrSet("target", "_blank")
    tokens[index].attrSet("rel", "noopener noreferrer")
    return str(renderer.renderToken(tokens, index, options, env))


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
    _push_paragraph(state, start, after)
    return True


def _push_paragraph(state: "StateBlock", start: int, end: int) -> None:
    state.push("paragraph_open", "p", 1).map = [start, end]
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start, end, state.blkIndent, False).strip()
    inline.map, inline.children = [start, end], []
    state.push("paragraph_close", "p", -1)
    state.line = end


def _line(state: "StateBlock", number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].strip()


def _show(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    return html.escape(tokens[index].content, quote=False)
