"""The versions of files within their bounds: what goes, what stays, and how they are counted."""

import json

import pytest

from agent_nb._base.secrets import mask
from agent_nb.errors import FileError
from agent_nb.files import Files, Workspace
from agent_nb.files.file_versions import MAX_OLD_BYTES

EDITS = 24
SIZE = 4_000_000


def page(number: int) -> str:
    return f"{number:09}\n" + "x" * SIZE


@pytest.fixture(scope="module")
def files() -> Files:
    """A small file with two versions, then a large one that was edited often."""
    files = Files({"small.txt": "one"}).write("small.txt", "two")
    for number in range(EDITS):
        files = files.write("large.txt", page(number))
    return files


def old_bytes(files: Files) -> int:
    return sum(len(version or "") for path in files for version in files.versions(path)[:-1])


def test_old_versions_are_bounded_in_bytes(files: Files) -> None:
    assert MAX_OLD_BYTES - SIZE - 100 < old_bytes(files) <= MAX_OLD_BYTES
    assert files["large.txt"] == page(EDITS - 1)
    kept = len(files.versions("large.txt"))
    assert files.versions("large.txt")[0] == page(EDITS - kept)


def test_the_heaviest_file_gives_way(files: Files) -> None:
    assert files.versions("small.txt") == ("one", "two")


def test_versions_are_counted_though_some_went(files: Files) -> None:
    assert len(files.versions("large.txt")) < EDITS == files.version("large.txt")
    change = Workspace(files).write("large.txt", "new")
    assert change.version == EDITS + 1


def test_a_diff_knows_what_went(files: Files) -> None:
    kept = len(files.versions("large.txt"))
    newest = files.diff("large.txt").splitlines()
    assert [line for line in newest if line.startswith(("-0", "+0"))] == [
        f"-{EDITS - 2:09}",
        f"+{EDITS - 1:09}",
    ]
    assert files.diff("large.txt", -1, kept - 1) == ""
    with pytest.raises(FileError, match=f"has {kept} version.*; {EDITS - kept} older were dropped"):
        files.diff("large.txt", -kept - 1, -1)


def test_an_earlier_value_keeps_its_own_versions(files: Files) -> None:
    before = files.versions("large.txt")
    files.write("large.txt", page(99))
    assert files.versions("large.txt") == before


def test_deleted_files_give_way_too() -> None:
    files = Files()
    for number in range(EDITS):
        files = files.write(f"{number}.txt", page(number)).delete(f"{number}.txt")
    kept = [path for number in range(EDITS) if len(files.versions(path := f"{number}.txt")) == 2]
    assert len(kept) == MAX_OLD_BYTES // len(page(0))
    assert Files.from_wire(files.to_wire()).to_wire() == files.to_wire()


def test_what_is_read_back_is_bounded() -> None:
    saved = {"a.txt": [{"text": page(number)} for number in range(EDITS)]}
    files = Files.from_wire(saved)
    assert old_bytes(files) <= MAX_OLD_BYTES
    assert files["a.txt"] == page(EDITS - 1)


def test_a_small_edit_is_saved_small() -> None:
    text = "".join(f"<p>{number}</p>" for number in range(1000))
    files = Files({"a.html": text})
    for number in range(100):
        files = files.write("a.html", text.replace(f"{number}<", f"changed {number}<", 1))
    assert len(json.dumps(files.to_wire())) < 2 * len(text)
    assert Files.from_wire(files.to_wire()).versions("a.html") == files.versions("a.html")


def test_a_few_bytes_that_repeat_a_large_text_are_bounded_too() -> None:
    large = page(0)
    again = {"keep": [len(large), 0], "text": ""}
    files = Files.from_wire({"a.txt": [{"text": large}, *[again] * EDITS * 4]})
    assert old_bytes(files) <= MAX_OLD_BYTES
    assert files["a.txt"] == large


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
