"""Files that no run wrote are not replaced without asking."""

import os
from pathlib import Path

import pytest

from agent_nb._base import atomic
from agent_nb._base.atomic import note_written
from agent_nb.core.errors import FileError
from agent_nb.files import Files


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(atomic, "_written", set())
    return tmp_path


def test_the_same_content_and_other_names_are_no_loss(home: Path) -> None:
    (home / "a.txt").write_text("same")
    Files({"a.txt": "same", "b.txt": "other"}).save(".")


def test_a_link_is_not_taken_for_what_a_run_wrote(home: Path) -> None:
    note_written([b"x"], home)
    (home / "x").write_bytes(b"x")
    os.symlink("x", home / "a.txt")
    with pytest.raises(FileError, match="has content not written by a run"):
        Files({"a.txt": "new"}).save(".")


def test_hashes_are_not_written_through_a_link(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (home / ".agent_nb").symlink_to(outside)
    Files({"a.txt": "text"}).save(".")
    assert not list(outside.iterdir())
