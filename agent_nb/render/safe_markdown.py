"""Makes Markdown from a model safe to show: no raw HTML, no images, only web and mail links."""

import html
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from agent_nb._base.secrets import mask
from agent_nb.render.markdown_math import add_math

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock

_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_MARKUP = re.compile(r"[\\`*\[\]<>~&]|(?<!\w)_|_(?!\w)")
_BLOCK_START = re.compile(r"^(\d*)(?=[-#+.)=|])")
_LIVE = re.compile(r"<(?=[A-Za-z/!?])|(?<!\\)!(?=\[)")


def to_html(markdown: str) -> str:
    return str(_parser().render(markdown))


def with_code(text: str) -> str:
    """Escaped text, with `backticks` as code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return html.escape(text, quote=False)
    return "".join(
        f"<code>{html.escape(piece, quote=False)}</code>" if index % 2 else html.escape(piece, quote=False)
        for index, piece in enumerate(pieces)
    )


def as_text(text: str) -> str:
    """Markdown that shows the text as it is, with `backticks` as code."""
    # Masked first: a secret with a backslash in it would not be recognised.
    escaped = _outside_code(mask(text), lambda plain: _MARKUP.sub(r"\\\g<0>", plain))
    return _BLOCK_START.sub(r"\1\\", escaped)


def link(url: str, title: str) -> str:
    """A link that opens in a new tab, or the title alone if the address is not safe."""
    if not is_safe_link(url):
        return html.escape(title)
    return f'<a href="{html.escape(url)}" target="_blank" rel="noopener noreferrer">{html.escape(title)}</a>'


def is_safe_link(url: str) -> bool:
    return _SAFE_LINK.match(url) is not None


def neutralized(markdown: str) -> str:
    """The same Markdown, with raw HTML escaped and images turned into links."""
    lines = markdown.split("\n")
    for token in _parser().parse(markdown):
        # The tokens inside a table row have no line numbers.
        if token.type in ("inline", "tr_open") and token.map:
            start, end = token.map
            text = "\n".join(lines[start:end])
            lines[start:end] = _outside_code(text, lambda plain: _LIVE.sub(_escape, plain)).split("\n")
    return "\n".join(lines)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text, changed except in its code spans."""
    pieces, done = [], 0
    for span in _CODE_SPAN.finditer(text):
        pieces += [change(text[done : span.start()]), span[0]]
        done = span.end()
    return "".join([*pieces, change(text[done:])])


def _escape(found: re.Match[str]) -> str:
    return "&lt;" if found[0] == "<" else "\\!"


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    parser.validateLink = is_safe_link  # type: ignore[method-assign]
    parser.normalizeLinkText = str  # type: ignore[method-assign, assignment]
    # Notebooks put the headings of outputs into their table of contents, where the model's do not belong.
    parser.add_render_rule("heading_open", lambda *_: "<p><strong>")
    parser.add_render_rule("heading_close", lambda *_: "</strong></p>\n")
    parser.add_render_rule("link_open", _open_link)
    add_math(parser)
    _show_deep_text(parser)
    return parser


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
        state.push("paragraph_open", "p", 1)
        inline = state.push("inline", "", 0)
        inline.content = state.getLines(start, line, state.blkIndent, False).strip()
        inline.children, inline.map = [], [start, line]
        state.push("paragraph_close", "p", -1)
        state.line = line

    parser.block.tokenize = tokenize_or_flatten  # type: ignore[method-assign, assignment]


def _open_link(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    if not tokens[index].attrGet("href"):  # `[text]()`, which would open the notebook itself
        del tokens[index].attrs["href"]
    tokens[index].attrSet("target", "_blank")
    tokens[index].attrSet("rel", "noopener noreferrer")
    return str(renderer.renderToken(tokens, index, options, env))
