"""The layout of Markdown in a terminal, with `rich` and without."""

import re
import sys

import pytest

from agent_nb.notebook.views.terminal_text import LONGEST_BLOCK, BlockWriter, renderer

TABLE = "| name | what |\n|:---|---|\n| apple | a fruit that is round and red |\n| fig |"
MARKDOWN = f"Some **bold** words.\n\n{TABLE}\n\n```python\nx = 1\n\ny = 2\n```\n\nend"


@pytest.fixture
def without_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    renderer.cache_clear()
    yield
    renderer.cache_clear()


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "24")


def written(text: str, size: int) -> list[str]:
    """What is written at once, in order, if the text arrives in parts."""
    writer = BlockWriter()
    parts = [writer.more(text[start : start + size]) for start in range(0, len(text), size)]
    return [part for part in (*parts, writer.rest()) if part]


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_without_rich_text_is_plain_and_tables_are_aligned(without_rich, size):
    assert "".join(written(MARKDOWN, size)) == (
        "Some **bold** words.\n\n"
        "name   what\napple  a fruit that is\n       round and red\nfig\n\n"
        "```python\nx = 1\n\ny = 2\n```\n\nend\n"
    )


def test_each_block_is_written_when_it_is_complete(without_rich):
    assert [part.split("\n")[0] for part in written(MARKDOWN, 1)] == [
        "Some **bold** words.",
        "name   what",
        "```python",
        "end",
    ]


@pytest.mark.parametrize("size", [1, 1000])
def test_with_rich_markdown_is_laid_out(size):
    pytest.importorskip("rich")
    shown = "".join(written(MARKDOWN + " [a link](https://example.com) [bold]:smile:[/bold]", size))
    assert "\x1b[1mbold\x1b[0m" in shown
    assert "\x1b]8" not in shown
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert "**" not in plain
    assert "```" not in plain
    assert ":smile:" in plain.replace("\n", "")
    assert all(len(line) <= 24 for line in plain.splitlines())
    assert "round" in plain.split()


def test_a_very_long_block_is_written_as_it_is():
    text = "**x** " * LONGEST_BLOCK
    assert written(text, 10_000) == [text + "\n"]
