"""A page as a widget of the user's own: a file that needs anywidget alone."""

import ast
import json
import subprocess
import sys

import pytest

from agent_nb import ConfigError

DATA = """
reviews = [{"id": 17, "text": "Warm bread"}]
def score(text: str) -> int:
    return len(text)
"""
IN_KERNEL = """
import asyncio, datetime, json, sys
sys.modules["agent_nb"] = None
from review_labels import ReviewLabels
import numpy as np
import pandas as pd

class Watched(ReviewLabels):
    def send(self, content, buffers=None):
        sent.append(content)

async def wait(text):
    await asyncio.sleep(0)
    if text == "b":
        raise ValueError("no")
    return text

async def main():
    table = pd.DataFrame({"day": [pd.Timestamp("2026-05-01"), pd.NaT], "n": [1.5, np.nan]}, index=["a", "b"])
    page = Watched(reviews=table, score=wait)
    page.observe(lambda change: seen.append(change.new), "labels")
    def say(view="v", **message):
        page._receive(page, {"view": view, **message}, [])
    say(do="page")
    say(do="get", name="reviews")
    say(do="get", name="labels")
    say(do="get", name="labels", view="w")
    say(do="set", name="labels", text='{"17": "good"}')
    say(do="get", name="_kinds")
    say(do="set", name="score", text="1")
    say(do="call", name="score", id=1, text='{"text": "a"}')
    say(do="call", name="score", id=2, text='{"other": "a"}')
    say(do="call", name="score", id=3, text='{"text": "b"}')
    await asyncio.gather(*page._calls)
    page.labels = None
    say(do="close", view="w")
    page.labels = 1

sent, seen = [], []
asyncio.run(main())
assert sent.pop(0)["bound"][2] == {"name": "score", "kind": "function"}
rows = [(m["do"], m["view"], m.get("name") or m.get("id"), m.get("text") or m.get("error")) for m in sent]
try:
    ReviewLabels(other=1)
except TypeError as error:
    rows.append(str(error))
print(json.dumps([rows, seen]))
"""


@pytest.fixture
def page(shell):
    assert shell.run(DATA).ok
    cell = shell.run("%%agent labeler -m demo: --pace 0 --bind reviews,labels,score\nLabel them.")
    assert cell.ok, cell.error
    return shell.names["labeler"].page


def test_it_works_where_the_package_is_not(page, tmp_path):
    path = page.export(tmp_path / "review_labels.py")
    assert "Warm bread" not in path.read_text(), "it has no values"
    assert "agent_nb." not in path.read_text().partition("_esm")[0]
    done = subprocess.run(
        [sys.executable, "-c", IN_KERNEL],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    rows, seen = json.loads(done.stdout)
    rows[0][3] = json.loads(rows[0][3])
    table = [{"index": "a", "day": "2026-05-01T00:00:00", "n": 1.5}, {"index": "b", "day": None, "n": None}]
    assert rows[:5] == [
        ["value", "v", "reviews", table],
        ["value", "v", "labels", "null"],
        ["value", "w", "labels", "null"],
        ["value", "w", "labels", '{"17": "good"}'],
        ["took", "v", "labels", None],
    ]
    results = {number: text for do, _, number, text in rows[5:8] if do == "result"}
    assert results == {
        1: '"a"',
        2: "score: TypeError: wait() got an unexpected keyword argument 'other'",
        3: "score: ValueError: no",
    }
    assert rows[8:] == [
        ["value", "v", "labels", "null"],
        ["value", "w", "labels", "null"],
        ["value", "v", "labels", "1"],
        "The page of ReviewLabels does not use other.",
    ]
    assert seen == [{"17": "good"}, None, 1]


def test_a_file_is_not_overwritten(page, tmp_path):
    (tmp_path / "a.py").write_text("mine")
    with pytest.raises(FileExistsError):
        page.export(tmp_path / "a.py")
    assert page.export(tmp_path / "a.py", overwrite=True).exists()


def test_only_a_name_that_python_can_import_is_taken(page, tmp_path):
    refused = (
        "none.py",
        "True.py",
        "class.py",
        "ｎｏｎｅ.py",
        "my-page.py",
        "3d.py",
        "_.py",
        "_3d.py",
        "a b.py",
        "a.b.py",
    )
    for name in refused:
        with pytest.raises(ConfigError, match=f"cannot import a class from '{name}': use a name of letters"):
            page.export(tmp_path / name)
    assert list(tmp_path.glob("*.py")) == []
    for name in ("nones.py", "_label_3d.py", "été.py", "page_widget.py"):
        ast.parse(page.export(tmp_path / name).read_text())


def test_a_run_without_a_page_has_nothing_to_export(shell, tmp_path):
    assert shell.run("%%agent talk -m demo: --pace 0\nWhat is a page?").ok
    with pytest.raises(ConfigError, match="no page to export"):
        shell.names["talk"].page.export(tmp_path / "a.py")
