"""Markdown of a model is safe, and looks the same while it streams and saved: both parsers, on CommonMark's tests."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from agent_nb.render.safe_markdown import is_safe_link, to_html

JS = Path(__file__).parents[3] / "js"

# GFM tables, formulas, and what models write.
TEXTS = [
    "| a | b |\n|:--|--:|\n| 1 | `x|y` |\n| *2* |\n\nafter",
    "a | b\n:-: | ---\n1 | 2\n> quote",
    "before\na | b\n--|--\n1 | 2 | 3\n\n| no |\n| table |",
    "| a | b |\n| --- |\n| 1 |",
    "| a \\| b | c |\n|--|--|\n| [x](https://a.example/?a=1&b) | ~~d~~ |\n# end",
    "- | a | b |\n  |---|--:|\n  | 1 | 2 |\n- c",
    "order_date and ship_date, total_price_usd, __init__ and `__init__`, 2 * 3 * 4",
    "$\\alpha_1 * \\beta_2 *$ and $$\\bar{x}$$ for $5 or $10, \\$a_b_$ and `$a$`",
    "The mean:\n$$\n\\bar{x}_1\n- \\frac{1}{n} * a_2\n= b\n$$\nthen\n$$\nopen *a*\n\n*b*",
    "[a $x](https://a.example) y$ [$b](https://b.example)",
    "1. $$\n   a_1 _b_\n   $$\n2. > $$\n   > c\n   d $$",
    "- a\n- b\n\n- c\n-\n\n--\n- d",
    '[a], [b] and [c]\n\n# x\n\n- [b]: https://b.example\n\ntext\n\n[a]: https://a.example\n\'title\n\nend\n\n[c]: <https://c.example>\n"two\nlines"\nlast',
    "```py\nx = '<b>'\n```\n~~~\ny\n\n    z",
    "a\r\nb\r\n\r\n- c\r- d\n\n\0e",
    "[a](https://a.example/é?q=[1]&%20%) <https://a.example/%C3%A9\\[> <a@b.example>",
    "&notit; &semi; &nbsp;&NewLine;x &Tab; &NotEqualTilde; &copy &#0; &bogus;",
    "> " * 30 + "*deep*\n\n" + "- " * 30 + "_deep_",
]
# What is shown as text on purpose, besides links that are not to the web or to a mail address.
BLOCKED = {"html_block", "html_inline", "image"}
BLOCKS = {"p", "ul", "ol", "li", "pre", "blockquote", "hr", "table", "thead", "tbody", "tr", "th", "td", "br"}


class Structure(HTMLParser):
    """Elements and text, without the space between blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[Any] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kept = {name: (value or "").strip("; ").replace(": ", ":") for name, value in attrs}
        self._add(tag, {name: kept[name] for name in ("href", "start", "style") if name in kept})

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("br", "hr"):
            self._add(tag, "end")

    def _add(self, tag: str, what: Any) -> None:
        if tag == "span":  # a colour
            return
        heading = re.fullmatch(r"h\d", tag)
        if heading and what != "end":
            self.parts += [("p", what), ("strong", what)]
        elif heading:
            self.parts += [("strong", what), ("p", what)]
        else:
            self.parts.append((tag, what))

    def handle_data(self, data: str) -> None:
        if self.parts and isinstance(self.parts[-1], str):
            self.parts[-1] += data
        else:
            self.parts.append(data)


def structure(html: str) -> list[Any]:
    parser = Structure()
    parser.feed(html)
    parser.close()
    found: list[Any] = []
    in_pre = False
    for index, part in enumerate(parser.parts):
        if part[0] == "pre":
            in_pre = part[1] != "end"
        found.append(part if in_pre or not isinstance(part, str) else trimmed(parser.parts, index))
    return [part for part in found if part]


def trimmed(parts: list[Any], index: int) -> str:
    text: str = parts[index].lstrip("\n") if is_block(parts, index - 1) else parts[index]
    return text.rstrip("\n") if is_block(parts, index + 1) else text


def is_block(parts: list[Any], index: int) -> bool:
    return not 0 <= index < len(parts) or parts[index][0] in BLOCKS


@pytest.fixture(scope="module")
def texts() -> list[dict[str, Any]]:
    if not shutil.which("node") or not (JS / "node_modules" / "commonmark-spec").exists():
        pytest.skip("needs Node and `npm ci` in js/")
    command = ["node", JS / "test" / "live-markdown.mjs"]
    done = subprocess.run(
        command, input=json.dumps(TEXTS), capture_output=True, text=True, timeout=300, check=True
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    assert len(found) > 700
    return found


def test_live_and_saved_have_the_same_structure_in_any_pieces(texts):
    different = []
    for text in texts:
        saved = structure(to_html(text["markdown"]))
        different += [
            (text["markdown"], saved, structure(live)) for live in {*text["live"]} if structure(live) != saved
        ]
    assert different == []


def test_both_follow_the_specification_but_for_what_is_blocked(texts):
    examples = [text for text in texts if text["html"] and not has_blocked(text["markdown"])]
    assert len(examples) > 400
    different = [
        (text["markdown"], expected, saved)
        for text in examples
        if (saved := structure(to_html(text["markdown"]))) != (expected := structure(text["html"]))
    ]
    assert different == []


def has_blocked(markdown: str) -> bool:
    env: dict[str, Any] = {}
    blocks = MarkdownIt("commonmark").parse(markdown, env)
    tokens = [*blocks, *(token for block in blocks for token in block.children or [])]
    links = [*env["references"].values()] if "references" in env else []
    addresses = [link["href"] for link in links] + [
        str(token.attrGet("href")) for token in tokens if token.tag == "a" and token.nesting > 0
    ]
    return any(token.type in BLOCKED for token in tokens) or not all(map(is_safe_link, addresses))


@pytest.mark.parametrize(
    ("markdown", "end"),
    [
        ("> " * 3000 + "x", "> x</p>"),
        ("- " * 3000 + "x", "- x</li>"),
        ("\n".join(f"{'  ' * level}- level {level}" for level in range(60)), "- level 59</li>"),
    ],
)
def test_what_is_nested_too_deep_is_shown_as_text(markdown, end):
    shown = to_html(f"{markdown}\n\nAn *end*.")
    assert len(re.findall("<(?:blockquote|[ou]l)>", shown)) <= 20
    assert end in shown.replace("&gt;", ">")
    assert shown.endswith("<p>An <em>end</em>.</p>\n")
