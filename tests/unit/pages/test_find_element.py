"""Elements of a run's page as values."""

from functools import partial

import pytest

from agent_nb import Agent
from agent_nb.core.errors import ConfigError
from agent_nb.pages.find_element import HTML_LIMIT, MOST_TAGS
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.scripts import run_script, write
from tests.support.work import lines_run

PAGE = """<!doctype html>
<title>Bakery</title>
<main>
  <section><h2>Bread</h2><p>Warm<p>Fresh</section>
  <h2 class="big">Cakes</h2>
  <table><tr><td>1<td>2</table>
  <h2>Hours</h2>
</main>
"""


@pytest.fixture
async def run():
    edit = {"path": "index.html", "old": "Hours", "new": "Opening hours"}
    more = [call("edit_file", edit), write("about.html", "<h1>About</h1>")]
    return await run_script([write(content=PAGE)], more, [text("Done.")])


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("main > h2", ("main > h2:nth-of-type(1)", 5, "2 of 3", '<h2 class="big">Cakes</h2>')),
        ("section h2", ("section > h2", 4, "1 of 3", "<h2>Bread</h2>")),
        (".big + table td:nth-child(2)", ("td:nth-of-type(2)", 6, "2 of 2", "<td>2</td>")),
        ("p:nth-of-type(2)", ("p:nth-of-type(2)", 4, "2 of 2", "<p>Fresh</p>")),
        ("tbody", ("tbody", 6, "1 of 1", "<tbody><tr><td>1</td><td>2</td></tr></tbody>")),
    ],
)
async def test_an_element_is_found_as_a_browser_finds_it(run, selector, expected):
    element = run.element(selector)
    assert (element.path, element.line, element.place, element.html) == expected
    assert element.file == "index.html"
    assert run.element(element.path) == element


async def test_the_turn_and_the_edit_that_wrote_it(run):
    first, edited = run.element(".big"), run.element("main > h2:nth-of-type(2)")
    assert (first.turn, edited.turn) == (1, 2)
    assert "index.html" in first.edit
    assert first.edit != edited.edit


async def test_what_was_there_before_the_run_has_no_turn(run):
    with ScriptedProvider([[text("Nothing to do.")]]) as provider:
        after = await Agent(provider).run("go on", base=run)
    assert (after.element(".big").turn, after.element(".big").edit) == (None, "")


async def test_an_element_of_another_file(run):
    assert run.element("h1", "about.html").file == "about.html"


async def test_a_long_element_is_cut(run):
    long = run.with_files({"index.html": f"<ul>{'<li>bread and butter</li>' * 500}</ul>"}).element("ul")
    assert len(long.html) == HTML_LIMIT
    assert long.html.endswith("…")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("h6",), "There is no element 'h6' in 'index.html'."),
        (("h2[",), "'h2[' is not a CSS selector that can be used here: "),
        (("h2", "nowhere.html"), "has no page 'nowhere.html': index.html, about.html."),
    ],
)
async def test_what_is_not_there_is_refused(run, arguments, error):
    with pytest.raises(ConfigError) as caught:
        run.element(*arguments)
    assert error in str(caught.value)


def find_or_be_refused(run, selector):
    try:
        run.element(selector)
    except ConfigError as error:
        assert "nested too deeply" in str(error)  # noqa: PT017 - the work before it counts, too


@pytest.mark.parametrize(
    ("page", "selector"),
    [
        (lambda size: "<p>x" * size, "p:nth-of-type(300)"),
        (lambda size: "<div>" * size + "<div id=last>", "#last"),
        (lambda size: "<ul><li>" * size + "<b id=last>", "#last"),
        (lambda size: "<div><p>x</p></div>" * size + "<div><p id=last>", "#last"),
        (lambda size: "<div>" * size + "<p>x" * size + "<p id=last>", "#last"),
        (lambda size: "<div>" * size, "div:contains('x'), div div + div ~ div, :not(div) > #x, html"),
    ],
)
async def test_a_page_that_is_twice_as_long_takes_twice_the_work(run, page, selector):
    run.element("h1", "about.html")  # imports the parser
    pages = (run.with_files({"index.html": page(size)}) for size in (300, 600))
    once, twice = (lines_run(partial(find_or_be_refused, hostile, selector)) for hostile in pages)
    assert twice < 2.4 * once


@pytest.mark.parametrize(
    ("page", "selector", "error"),
    [
        ("<p>" * (MOST_TAGS + 1), "p", "has too many tags to find an element in it"),
        ("&" * (10 * MOST_TAGS + 1), "body", "has too many tags to find an element in it"),
        ("<div>" * 20_000, "p" + ">*" * 400, "budget exceeded"),
        ("<div>" * 100 + "<div id=last>", "#last", "nested too deeply"),
    ],
)
async def test_the_work_for_one_element_is_limited(run, page, selector, error):
    with pytest.raises(ConfigError, match=error):
        run.with_files({"index.html": page}).element(selector)
