"""The versions of files: how they are counted and saved."""

import json

import pytest

from agent_nb._base.secrets import mask
from agent_nb.core.errors import FileError
from agent_nb.files import MAX_READ_BYTES, Files


def test_a_small_edit_is_saved_small() -> None:
    text = "".join(f"<p>{number}</p>" for number in range(1000))
    files = Files({"a.html": text})
    for number in range(100):
        files = files.write("a.html", text.replace(f"{number}<", f"changed {number}<", 1))
    assert len(json.dumps(files.to_wire())) < 2 * len(text)
    assert Files.from_wire(files.to_wire()).versions("a.html") == files.versions("a.html")


def test_a_few_bytes_that_repeat_a_large_text_are_refused() -> None:
    large = "x" * 4_000_000
    again = {"keep": [len(large), 0], "text": ""}
    with pytest.raises(FileError):
        Files.from_wire({"a.txt": [{"text": large}, *[again] * (MAX_READ_BYTES // len(large))]})


@pytest.mark.parametrize("keep", [[5, 0], [0, 5], [3, 3], [-1, 0], [0, -1], [1], "ab", None])
def test_a_version_that_keeps_what_is_not_there_is_refused(keep: object) -> None:
    with pytest.raises(FileError):
        Files.from_wire({"a.txt": [{"text": "abcd"}, {"keep": keep, "text": ""}]})


def test_secrets_do_not_hide_between_two_versions() -> None:
    key = "sk-ant-api03-" + "x9-Y" * 8
    first, second = f"<p>{key[:30]}</p>", f"<p>{key}</p>"
    saved = Files({"a.html": "x" * 80 + first}).write("a.html", "x" * 80 + second).to_wire(mask)
    assert Files.from_wire(saved).versions("a.html")[-1] == "x" * 80 + "<p>•••</p>"


def test_small_edits_are_all_kept() -> None:
    files = Files()
    for number in range(2000):
        files = files.write("a.txt", f"edit {number}")
    assert len(files.versions("a.txt")) == files.version("a.txt") == 2000
