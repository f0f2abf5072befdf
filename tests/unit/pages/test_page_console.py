"""What the previewed page of a run has logged: its numbers, and how the model sees a line."""

import gc

import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.pages.page_check import MOST_LINES, PageConsole, console_of
from agent_nb.providers.scripted import text as say
from tests.support.scripts import run_script


def error(text: str, **more):
    return {"level": "error", "text": text, **more}


def test_a_line_that_comes_again_keeps_its_number():
    console = PageConsole()
    numbers = [console.add(error(each)) for each in ("one", "two", "one", "three", "two")]
    assert numbers == [1, 2, 1, 3, 2]
    assert [line.text for line in console.values()] == ["one", "two", "three"]


def test_the_numbers_of_lines_stay_when_others_are_dropped_and_errors_are_dropped_last():
    console = PageConsole()
    first = console.add(error("boom"))
    for index in range(3 * MOST_LINES):
        console.add({"level": "log", "text": str(index)})
    assert len(console) == MOST_LINES
    assert console[first].text == "boom"
    assert console[3 * MOST_LINES + 1].text == str(3 * MOST_LINES - 1)
    with pytest.raises(ConfigError, match="no line 2 of what the page has logged"):
        console[2]


def test_lines_are_limited():
    console = PageConsole()
    line = console[console.add({"level": "warn", "text": "x" * 9000, "line": 1e99, "file": ["a"]})]
    assert (line.level, line.file, line.line, len(line.text)) == ("warning", "", 1_000_000, 2000)


def test_a_console_lasts_as_long_as_it_is_kept_by_what_reports_to_it():
    kept = console_of("a", 0)
    kept.add(error("boom"))
    console_of("b", 0).add(error("boom"))
    gc.collect()
    assert (len(console_of("a", 0)), len(console_of("a", 1)), len(console_of("b", 0))) == (1, 0, 0)


async def test_a_run_has_the_console_of_its_page():
    run = await run_script([say("Done.")])
    kept = console_of(run.id, run.variant)
    kept.add(error("boom", file="index.html", line=3))
    assert str(run.console[1]) == 'error in "index.html" line 3: "boom"'
