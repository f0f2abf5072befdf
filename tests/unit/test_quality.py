"""`docs/internals/quality.md` shows a figure only if it is one of the sources as they are."""

import subprocess

import pytest

from benchmarks import quality
from docs.scripts.quality import pages

SOURCE = "agent_nb/engine.py"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with one source file, whose figures are kept in it."""
    monkeypatch.setattr(quality, "ROOT", tmp_path)
    monkeypatch.setattr(quality, "FOLDER", tmp_path / "build")
    (tmp_path / "agent_nb").mkdir()
    git("init", "-q", cwd=tmp_path)
    change(tmp_path, SOURCE)
    return tmp_path


def git(*arguments, cwd):
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    done = subprocess.run(["git", *who, *arguments], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout


def change(checkout, path, *, commit=True):
    with (checkout / path).open("a") as file:
        file.write("pass\n")
    if commit:
        git("add", path, cwd=checkout)
        git("commit", "-qm", "change", cwd=checkout)


def shown(checkout):
    """Whether the page of goals and the table show the figure."""
    texts = pages(quality.FOLDER)
    row = next(line for line in texts["quality.md"].splitlines() if "The same: Chat Completions" in line)
    measured = (row.split("|")[3].strip(), "not measured in this version" in row)
    assert measured in (("0.19", False), ("", True))
    assert ("0.19" in texts["quality/providers.md"]) == ("0.19" in row)
    return "0.19" in row


def measure():
    quality.write_figures("providers", {"cpu": {"chat": {"agent_nb": {"times_sdk": 0.19}}}})


def test_a_figure_is_shown_until_the_sources_change(checkout):
    measure()
    assert shown(checkout)
    change(checkout, "README.md")
    assert shown(checkout)
    change(checkout, SOURCE, commit=False)
    assert not shown(checkout)
    change(checkout, SOURCE)
    assert not shown(checkout)


def test_a_figure_of_uncommitted_sources_or_of_no_known_commit_is_not_shown(checkout):
    change(checkout, SOURCE, commit=False)
    measure()
    assert not shown(checkout)
    record = quality.FOLDER / "providers.json"
    record.write_text(record.read_text().replace('"commit": ""', f'"commit": "{"0" * 40}"'))
    assert not shown(checkout)
    record.write_text(record.read_text().replace('"commit"', '"other"'))
    assert not shown(checkout)


def test_the_page_names_the_commit_of_its_figures(checkout):
    measure()
    commit = git("rev-parse", "HEAD", cwd=checkout)
    texts = pages(quality.FOLDER)
    assert commit[:12] in texts["quality.md"]
    assert commit[:12] in texts["quality/providers.md"]
