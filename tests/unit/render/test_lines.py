"""Notebooks are saved and compared line by line: a saved run differs where its page does."""

from agent_nb import Agent, Run
from agent_nb.providers.scripted import ScriptedProvider, call, text

LONGEST = 700
PAGE = "<!doctype html>\n<title>A bakery</title>\n<h1>{}</h1>\n<p>Bread.</p>\n"


async def run_with(headline: str) -> Run:
    page = {"path": "index.html", "content": PAGE.format(headline)}
    return await Agent(ScriptedProvider([[call("create_file", page)], [text("Done.")]])).run("A page")


def saved_lines(run: Run) -> list[str]:
    return run._repr_mimebundle_()["text/html"].splitlines()


async def test_a_changed_line_of_the_page_is_a_changed_line_of_the_output() -> None:
    before, after = [saved_lines(await run_with(headline)) for headline in ("Open at six", "Open at two")]
    assert len(before) == len(after)
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert [line for line in changed if "data-anb-outcome" not in line] == [
        "<h1>Open at two</h1>",
        "&lt;h1>Open at two&lt;/h1>",
    ]


async def test_only_the_line_with_the_pages_script_is_long() -> None:
    """The script is on the first line of the page, whose other lines keep their numbers."""
    (long,) = [line for line in saved_lines(await run_with("Open")) if len(line) > LONGEST]
    assert long.startswith("<iframe title=")
    assert "prepare()" in long
