"""Makes a model's Markdown safe to display: no raw HTML, no images, only web and mail links.

It is regenerated from the parser's tokens, because regexes over the source miss what a parser sees. Viewers use other
dialects, so nothing may depend on how they pair backticks, dollars or table pipes. JupyterLab extracts formulas before
it parses, from one delimiter to the next, including the end of a code span between them.
"""

import html
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from agent_nb._base.secrets import mask
from agent_nb._base.text import fenced

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
# `$$x$$`, or `$x$` with no space inside the dollars and no digit after them, so that prices stay text.
_FORMULA = re.compile(r"\$\$(?:[^$\\]|\\.)+\$\$|\$(?![\s$])(?:[^$\\]|\\.)*?(?<!\s)\$(?![0-9$])", re.DOTALL)
_SPECIAL = re.compile(r"[\\`<>&*\[\]~$|]|(?<!\w)_|_(?!\w)|:(?=//)|(?<=www)\.", re.IGNORECASE)
"""The last two alternatives: autolinks extend to the next space, backticks included."""
_ENTITIES = {"\\": "&#92;", "`": "&#96;", "<": "&lt;", ">": "&gt;", "&": "&amp;", "[": "&#91;", "]": "&#93;"}
"""Some viewers do not treat a backslash before these as an escape: marked removes it in link text."""
_BLOCK_START = re.compile(r"^\d+(?=[.)](?:\s|$))|^(?=[-#=:]|\+(?:\s|$)|~~~)", re.MULTILINE)
_LINE_BREAK = re.compile(r"[\x00-\x1f\x85\u2028\u2029]+")
_FORMULA_START = re.compile(r"\\\\[()\[\]]|\\(?:begin|end)\{")
"""Text that JupyterLab treats as a formula delimiter, even in code."""
_LIVE = re.compile(r"<(?=[A-Za-z/!?])|!(?=\[)|\](?=[(\[:])")
_LANGUAGES = re.compile(
    "bash|c|console|cpp|css|csv|diff|go|html|ini|i?python|java|javascript|jsx?|jsonl?|julia|latex|markdown|md|php|py|r"
    "|ruby|rust|sh|shell|sql|tex|text|toml|tsx?|txt|typescript|xml|ya?ml"
)
"""Other languages may do more than highlight: JupyterLab renders `mermaid`, which can contain images."""
_MARK = '<span style="text-decoration:underline dotted" title="Not computed by any code in this run">'
_MARKS = {"em": "*", "strong": "**", "s": "~~"}
_ALIGNED = {"text-align:left": ":--", "text-align:center": ":-:", "text-align:right": "--:"}


def to_html(markdown: str, marks: Mapping[int, str] = {}) -> str:
    """Render as HTML with these texts marked, each after its offset in UTF-16 units in the text without code."""
    md = parser()
    return str(md.renderer.render(_parsed(markdown), md.options, {"marks": marks, "at": 0}))


def _parsed(markdown: str) -> "list[Token]":
    return parser().parse(mask(markdown))


def _marked(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """Render a text, a line break or a formula. A formula is marked as a whole."""
    token, at = tokens[index], env["at"]
    text = "\n" if token.type == "softbreak" else token.content
    units = _utf16(text)
    env["at"] += len(units) // 2
    marks = [(2 * (start - at), _utf16(mark)) for start, mark in env["marks"].items() if start >= at]
    marks = [(start, mark) for start, mark in marks if units[start : start + len(mark)] == mark]
    if token.type == "math":
        formula = _code_of_formula(text)
        return f"{_MARK}{formula}</span>" if marks else formula
    pieces, done = "", 0
    for start, mark in marks:
        before, number = (part.decode("utf-16-le", "surrogatepass") for part in (units[done:start], mark))
        pieces += f"{_prose(before)}{_MARK}{_prose(number)}</span>"
        done = start + len(mark)
    return pieces + _prose(units[done:].decode("utf-16-le", "surrogatepass"))


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def with_code(text: str) -> str:
    return "".join(
        f"<code>{html.escape(piece, quote=False)}</code>" if index % 2 else _prose(piece)
        for index, piece in enumerate(_pieces(text))
    )


def _pieces(text: str) -> list[str]:
    """Mask a text and split it at its backticks: every second piece is code."""
    pieces = mask(text).split("`")
    return pieces if len(pieces) % 2 else ["`".join(pieces)]


def _prose(text: str) -> str:
    """Escape text without formulas: JupyterLab takes what is between two dollar signs in an element for one."""
    return html.escape(text, quote=False).replace("$", "<span>$</span>")


def link(url: str, title: str) -> str:
    """Return a link that opens in a new tab, or only the title if the URL is not safe."""
    if not is_safe_link(url):
        return html.escape(title)
    return f'<a href="{html.escape(url)}" target="_blank" rel="noopener noreferrer">{html.escape(title)}</a>'


def is_safe_link(url: str) -> bool:
    return _SAFE_LINK.match(url) is not None


@cache
def parser() -> "MarkdownIt":
    """Return a parser for CommonMark with tables and formulas, without HTML and images."""
    from markdown_it import MarkdownIt

    md = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    md.validateLink = is_safe_link  # type: ignore[method-assign]
    md.normalizeLinkText = str  # type: ignore[method-assign, assignment]
    # Notebooks list headings in outputs in their table of contents, where the model's headings do not belong.
    md.add_render_rule("heading_open", lambda *_: "<p><strong>")
    md.add_render_rule("heading_close", lambda *_: "</strong></p>\n")
    md.add_render_rule("link_open", _open_link)
    for kind in ("text", "softbreak", "math"):
        md.add_render_rule(kind, _marked)
    ends = ["paragraph", "reference", "blockquote", "list"]
    md.block.ruler.before("fence", "math", _formula_block, {"alt": ends})
    md.inline.ruler.before("escape", "math", _inline_formula)
    _show_deep_text(md)
    return md


def _show_deep_text(parser: "MarkdownIt") -> None:
    """Turn blocks beyond the parser's maximum nesting into a paragraph; markdown-it drops them."""
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
    if not tokens[index].attrGet("href"):  # `[text]()` would open the notebook itself
        del tokens[index].attrs["href"]
    tokens[index].attrSet("target", "_blank")
    tokens[index].attrSet("rel", "noopener noreferrer")
    return str(renderer.renderToken(tokens, index, options, env))


def _inline_formula(state: "StateInline", silent: bool) -> bool:
    match = _FORMULA.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if not silent:
        state.push("math", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _code_of_formula(formula: str) -> str:
    """Where nothing typesets it, a formula is shown as code."""
    return f'<span class="anb-math">{html.escape(formula, quote=False)}</span>'


def _formula_block(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """Parse a paragraph from a line `$$` to a line that ends with `$$`, with any lines in between."""
    if state.is_code_block(start) or _line(state, start) != "$$":
        return False
    if silent:
        return True
    next_line = start + 1
    while next_line < end and not state.isEmpty(next_line) and state.sCount[next_line] >= state.blkIndent:
        next_line += 1
        if _line(state, next_line - 1).endswith("$$"):
            break
    _push_paragraph(state, start, next_line)
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


def rebuilt(markdown: str, *, quoted: bool = False) -> str:
    """Return equivalent Markdown with images as links and HTML as text. `quoted`: it will be in a block quote."""
    from markdown_it.tree import SyntaxTreeNode

    return _blocks(SyntaxTreeNode(_parsed(markdown)).children, quoted)


def as_text(text: str, *, in_table: bool = False) -> str:
    """Escape plain text as Markdown, with `backticks` as code."""
    spans = (
        code_span(piece, in_table=in_table) if index % 2 else _escaped(piece)
        for index, piece in enumerate(_pieces(text))
    )
    return _BLOCK_START.sub(r"\g<0>\\", "".join(spans))


def code_span(code: str, *, in_table: bool = False) -> str:
    """Return a code span with a fence longer than any backticks in it."""
    code = _LINE_BREAK.sub(" ", code)
    if _FORMULA_START.search(code) or (in_table and "|" in code):
        return f"<code>{_entities(code)}</code>"
    fence = "`" * (1 + max((len(ticks) for ticks in re.findall("`+", code)), default=0))
    space = " " if code.strip() and (code[0] in "` " or code[-1] in "` ") else ""
    return f"{fence}{space}{code}{space}{fence}" if code else ""


def web_link(url: str, text: str) -> str:
    """Return a link to a URL that passes `is_safe_link`; `text` is Markdown."""
    # A dollar or a backslash could start a formula, and brackets could end the link.
    address = quote(url, safe="/:?#@!&'+,;=%~").replace("&", "&amp;")
    return f"[{text}]({address})"


def _blocks(nodes: "Iterable[SyntaxTreeNode]", quoted: bool) -> str:
    return "\n\n".join(filter(None, (_block(node, quoted) for node in nodes)))


def _block(node: "SyntaxTreeNode", quoted: bool) -> str:
    match node.type:
        case "paragraph" | "inline":
            lines = _inline(node).split("\n")
            return _BLOCK_START.sub(r"\g<0>\\", "\n".join(line.strip() for line in lines))
        case "heading":
            line = re.sub(r"\\?\n", " ", _inline(node))
            return f"{'#' * int(node.tag[1])} {line}"
        case "fence" | "code_block":
            return _code_block(node, quoted)
        case "bullet_list" | "ordered_list":
            return _list(node, quoted)
        case "blockquote":
            return _indented(_blocks(node.children, quoted=True), "> ", "> ")
        case "table":
            head, *body = (row for part in node.children for row in part.children)
            borders = [_ALIGNED.get(str(cell.attrs.get("style")), "---") for cell in head.children]
            rows = [[_inline(cell, in_table=True) for cell in row.children] for row in (head, *body)]
            return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], borders, *rows[1:]))
        case "hr":
            return "***"
        case _:
            return _escaped(node.content)


def _code_block(node: "SyntaxTreeNode", quoted: bool) -> str:
    code, language = node.content.rstrip("\n"), "".join(node.info.lower().split()[:1])
    if quoted and ("$" in code or _FORMULA_START.search(code)):  # empty lines do not end a quoted formula
        return f"<pre><code>{_entities(code)}</code></pre>"
    return fenced(code, language if _LANGUAGES.fullmatch(language) else "")


def _list(node: "SyntaxTreeNode", quoted: bool) -> str:
    is_tight = all(
        child.type.endswith("_list") or (child.type == "paragraph" and child.hidden)
        for item in node.children
        for child in item.children
    )
    items = []
    for number, item in enumerate(node.children, int(node.attrs.get("start", 1))):
        mark = f"{number}{item.markup} " if node.type == "ordered_list" else f"{item.markup} "
        blocks = [_block(child, quoted) for child in item.children]
        text = ("\n" if is_tight else "\n\n").join(filter(None, blocks))
        items.append(_indented(text, mark, " " * len(mark)))
    return ("\n" if is_tight else "\n\n").join(items)


def _indented(text: str, first: str, others: str) -> str:
    lines = text.split("\n")
    return "\n".join(f"{others if index else first}{line}".rstrip() for index, line in enumerate(lines))


def _inline(node: "SyntaxTreeNode", *, in_table: bool = False) -> str:
    text = ""
    for child in node.children:
        if child.type == "link" and text.endswith("!"):  # else the link would become an image
            text = f"{text[:-1]}\\!"
        text += _span(child, in_table)
    return text


def _span(node: "SyntaxTreeNode", in_table: bool) -> str:
    match node.type:
        case "inline":
            return _inline(node, in_table=in_table)
        case "code_inline":
            return code_span(node.content, in_table=in_table)
        case "em" | "strong" | "s":
            mark = _MARKS[node.type]
            return f"{mark}{_inline(node, in_table=in_table)}{mark}"
        case "link":
            text, url = _inline(node, in_table=in_table), str(node.attrs.get("href", ""))
            return web_link(url, text) if is_safe_link(url) else text
        case "softbreak":
            return "\n"
        case "hardbreak":
            return "\\\n"
        case "math":
            return _formula(node.content, in_table)
        case _:
            return _escaped(node.content)


def _formula(formula: str, in_table: bool) -> str:
    """Return a one-line formula, spaced where a viewer without formulas would parse HTML or an image."""
    if re.search(r"`|(?<!\\)%", formula) or (in_table and "|" in formula):
        return _escaped(formula)
    return _LIVE.sub(r"\g<0> ", _LINE_BREAK.sub(" ", formula))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), _LINE_BREAK.sub(" ", text))


def _entities(code: str) -> str:
    """Escape code for an HTML element so that it contains no Markdown syntax."""
    return re.sub(r"[^\w\s]|_", lambda match: f"&#{ord(match[0])};", code)
