"""`run.open()`: the page in the browser, from a temporary file."""

import os
import shlex
import stat
import sys
import webbrowser

import pytest

from agent_nb import Agent, ConfigError, Run
from agent_nb.providers.scripted import ScriptedProvider, text

KEY = "sk-ant-api03-" + "x9-Y" * 8
PAGE = """<!doctype html><link rel="stylesheet" href="style.css"><h1>Bread</h1><p>""" + KEY


def run_with(files) -> Run:
    return Agent(ScriptedProvider([[text("done")]])).run_sync("go").with_files(files)


@pytest.fixture
def browsers(monkeypatch):
    """Python looks for browsers once, so its list is emptied before and after."""
    monkeypatch.setattr(webbrowser, "_tryorder", None)
    monkeypatch.setattr(webbrowser, "_browsers", {})
    return monkeypatch


def test_the_page_is_opened_from_a_closed_document(browsers, tmp_path):
    seen = tmp_path / "opened"
    script = f"import sys, pathlib; pathlib.Path({str(seen)!r}).write_text(sys.argv[1])"
    browsers.setenv("BROWSER", f"{shlex.join([sys.executable, '-c', script])} %s")
    path = run_with({"index.html": PAGE, "style.css": "h1 { color: teal }"}).open()
    assert seen.read_text() == path.as_uri()
    document = path.read_text(encoding="utf-8")
    assert document.startswith("<!doctype html><meta charset=")
    before, frame = document.split("<iframe", 1)
    assert "default-src 'none'" in before
    assert "frame-src 'none'" in before
    assert "allow-same-origin" not in document
    assert "<h1>Bread</h1>" in frame
    assert "teal" in frame
    assert KEY not in document
    if os.name == "posix":
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_without_a_browser_a_sentence_says_what_to_do(browsers, tmp_path):
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        browsers.delenv(name, raising=False)
    (tmp_path / "w3m").write_text("#!/bin/sh\nsleep 60\n")
    (tmp_path / "w3m").chmod(0o755)
    for folder in (tmp_path, tmp_path / "nothing"):
        browsers.setattr(webbrowser, "_tryorder", None)
        browsers.setenv("PATH", str(folder))
        with pytest.raises(ConfigError, match=r"There is no browser .*`run.files.save\('site'\)`"):
            run_with({"index.html": PAGE}).open()


@pytest.mark.parametrize(("files", "says"), [({}, "no files"), ({"a.txt": "x"}, "a.txt")])
def test_a_run_without_a_page_is_refused(files, says):
    with pytest.raises(ConfigError, match=f"`run` has no page to open: {says}."):
        run_with(files).open()
