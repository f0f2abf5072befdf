"""Markdown and HTML that leave us load nothing when they are opened, in any dialect."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import mistune
import pytest
from markdown_it import MarkdownIt
from nbconvert.filters import markdown2html

from agent_nb.pages.policy import PLAIN_TAGS
from agent_nb.render import bundle
from agent_nb.render.outputs import plain_html
from agent_nb.render.safe_markdown import as_text, rebuilt, to_html, with_code
from tests.support import ROOT
from tests.support.hostile_run import hostile_run
from tests.support.markdown_forms import FORMS

PLAIN = re.compile(
    "p|em|strong|a|code|pre|[uo]l|li|blockquote|t(able|head|body|r|h|d)|[bh]r|del|s|h[1-6]|div|span|input"
)
"""`nbconvert` puts code into a `div`, with colours, and draws tasks."""
DIALECTS = {
    "commonmark": MarkdownIt("commonmark").enable(["table", "strikethrough"]).render,
    "markdown-it": MarkdownIt("js-default", {"html": True, "linkify": False}).render,
    "mistune": mistune.create_markdown(
        escape=False,
        plugins=["table", "strikethrough", "footnotes", "def_list", "abbr", "math", "task_lists"],
    ),
    "nbconvert": markdown2html,
}

URL = "http://pixel.example/x.png"


CASES = json.loads(Path(ROOT / "tests/support/plain_html.json").read_text())


class Elements(HTMLParser):
    """What a page would do besides showing text."""

    def __init__(self) -> None:
        super().__init__()
        self.live: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {name for name, value in attrs}
        harmless = {
            "href",
            "class",
            "id",
            "start",
            "align",
            "style",
            "title",
            "type",
            "disabled",
            "checked",
            "rel",
        }
        loads = any("url" in (value or "").lower() for name, value in attrs if name == "style")
        links = [value or "" for name, value in attrs if name == "href"]
        is_safe = all(re.match(r"https?:|mailto:|#", link) for link in links)
        if not PLAIN.fullmatch(tag) or names - harmless or loads or not is_safe:
            self.live.append(f"<{tag} {attrs}>")


def live_elements(page: str) -> list[str]:
    elements = Elements()
    elements.feed(page)
    return elements.live


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("form", FORMS)
def test_no_form_loads_anything(form: str, dialect: str) -> None:
    for written in (rebuilt(form), as_text(form), "> " + rebuilt(form, quoted=True).replace("\n", "\n> ")):
        page = str(DIALECTS[dialect](written.replace("URL", URL)))
        assert live_elements(page) == [], written


def test_the_forms_load_something_as_they_are() -> None:
    pages = [str(DIALECTS["nbconvert"](form.replace("URL", URL))) for form in FORMS]
    assert sum(bool(live_elements(page)) for page in pages) > 50


@pytest.mark.parametrize(
    "markdown",
    [
        "# A heading\n\nText with *em*, **strong**, ~~gone~~, `code`, a_b, __init__ and 2 * 3 * 4 for $5.",
        "1. one\n2. two\n   - a\n   - b `x|y`\n\n> quoted\n>\n> ```py\n> x = '<b>'\n> ```",
        "| a | b |\n|:--|--:|\n| 1 | `x` |\n| *2* | [link](https://a.example/?a=1&b=2 'title') |",
        "$\\alpha_1$ and\n\n$$\n\\bar{x} = |x|\n$$\n\n```html\n<b>&amp;</b>\n```\n\n***\n\nTwo\\\nlines <https://a.example>",
        "10. ten\n\n    and more\n11. eleven\n\n\\# no heading, \\- no item\n1986\\. a year",
        "`\\begin{a}` and `` ` ``\n\n> ```\n> $a$ __b__\n>\n> c\n> ```",
    ],
)
def test_ordinary_markdown_keeps_its_meaning(markdown: str) -> None:
    page = re.sub(r' title="\w+"', "", to_html(markdown))
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(rebuilt(markdown))
    assert plain_page(html) == plain_page(page)


def test_a_price_is_no_part_of_a_formula() -> None:
    price = "<span>$</span>5"
    formula = '<span class="anb-math">$x$</span>'
    assert to_html("$x$ for $5 or **$5**") == f"<p>{formula} for {price} or <strong>{price}</strong></p>\n"
    assert with_code("$5 or `$x`") == f"{price} or <code>$x</code>"


def plain_page(page: str) -> str:
    """The page without our attributes of links, headings drawn as text, marks of dollars and space of formulas."""
    page = re.sub(r'<span(?: class="anb-math")?>(.+?)</span>', r"\1", page, flags=re.DOTALL)
    page = re.sub(
        r' (target|rel)="[^"]*"|<p><strong>(A heading)</strong></p>|<h1>(A heading)</h1>', r"\2\3", page
    )
    page = re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), page.replace("&quot;", '"'))
    return " ".join(re.sub(r"\s*(</code></pre>)\s*", r"\1", page).split())


def test_a_statement_shows_names_and_failures_as_text() -> None:
    name = "x|![x](http://a.example/x.png) <img src=x> `![x](y)|`"
    assert as_text(name) == r"x\|!&#91;x&#93;(http\://a.example/x.png) &lt;img src=x&gt; `![x](y)|`"


async def test_a_whole_run_loads_nothing() -> None:
    """The model's words, titles and paths of its calls, what tools display, the names of models, a check, the notes."""
    run = await hostile_run(URL)
    notebook = json.loads(run.to_cells().to_notebook())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    outputs = [output["data"] for cell in notebook["cells"] for output in cell.get("outputs", ())]
    written = [
        run.to_markdown(),
        run.certificate.to_markdown(),
        bundle(run)["text/markdown"],
        run.to_cells()._repr_markdown_(),
        *cells,
        *(data["text/markdown"] for data in outputs if "text/markdown" in data),
    ]
    assert len(written) > 50
    for dialect in DIALECTS.values():
        assert [live_elements(str(dialect(text))) for text in written] == [[] for _ in written]
    shown = [data["text/html"] for data in outputs if "text/html" in data]
    assert len(shown) > 50
    plain = rf"</?(?:{'|'.join(PLAIN_TAGS)})(?: (?:col|row)span=\"\d+\")*>"
    assert [text[:24] for text in shown if "<" in re.sub(plain, "", text)] == ['<img alt="image" src="da']


@pytest.mark.parametrize(("markup", "written"), CASES["plain"])
def test_tables_and_text_are_written_anew(markup, written):
    assert plain_html(markup) == written


@pytest.mark.parametrize("markup", [case for [case] in CASES["framed"]])
def test_more_than_that_is_not(markup):
    assert plain_html(markup) is None


def test_tags_end_where_they_began():
    assert plain_html("</div></div><p>a<b>b</p>c<td>") == "<p>a<b>b</b></p>c<td></td>"
