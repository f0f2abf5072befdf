"""Zip files from anybody: what is refused, without unpacking it."""

import io
import os
import stat
import struct
import tracemalloc
import zipfile
from contextlib import nullcontext

import pytest

from agent_nb.files import zipped
from agent_nb.lab.marks import archive as archive_module
from agent_nb.lab.marks.archive import MAX_ENTRIES, MAX_TOTAL, MAX_VALUES, BadSubmissionError, opened
from tests.support.notebooks import notebook

BOOK = notebook("a = 1")


def read_all(path) -> None:
    with opened(path) as submission:
        submission.notebook()
        submission.log()
        for name in submission.run_names():
            submission.run(name)


def refusal(path) -> str:
    with pytest.raises(BadSubmissionError) as caught:
        read_all(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def written(path, *entries, compress=zipfile.ZIP_DEFLATED):
    """A zip file with these names and contents, in which a name may come twice."""
    with zipfile.ZipFile(path, "w", compress) as archive:
        archive.writestr("week3.ipynb", BOOK)
        for entry, data in entries:
            archive.writestr(entry, data)
    return path


def linked(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info


def test_the_parts_of_a_submission(tmp_path):
    path = tmp_path / "三.zip"
    path.write_bytes(
        zipped({"Übung.ipynb": BOOK, "lab-log.jsonl": b"{}", "runs/b.json": b"1", "runs/a.json": b"2"})
    )
    with opened(path) as submission:
        assert submission.notebook() == BOOK
        assert submission.log() == b"{}"
        assert [submission.run(name) for name in submission.run_names()] == [b"2", b"1"]


def test_a_folder_that_was_zipped_on_a_mac(tmp_path):
    names = ("week3/", "week3/.ipynb_checkpoints/week3.ipynb", "__MACOSX/week3/._week3.ipynb")
    path = tmp_path / "a.zip"
    path.write_bytes(
        zipped({**dict.fromkeys(names, b""), "week3/week3.ipynb": BOOK, "week3/lab-log.jsonl": b"x"})
    )
    with opened(path) as submission:
        assert (submission.notebook(), submission.log()) == (BOOK, b"x")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("../evil.py", "'../evil.py' leads out of the zip file."),
        ("runs/../../evil", "leads out of the zip file."),
        ("/etc/passwd", "leads out of the zip file."),
        ("C:/evil", "leads out of the zip file."),
        ("runs\\evil", "is not a valid name."),
        ("runs/\x1b[2J", "is not a valid name."),
        ("runs/\u202eevil", "is not a valid name."),
        ("x" * 600, "is not a valid name."),
        (linked("runs/link.json"), "'runs/link.json' is a link or a device."),
        ("week3.ipynb", "It has two parts with the same name."),
        ("other.ipynb", "It has 2 notebooks; one is expected."),
    ],
)
def test_names_that_are_refused(tmp_path, name, sentence):
    with pytest.warns(UserWarning, match="Duplicate") if name == "week3.ipynb" else nullcontext():
        path = written(tmp_path / "a.zip", (name, b"x"))
    assert sentence in refusal(path)


def test_a_name_with_a_null_byte(tmp_path):
    path = written(tmp_path / "a.zip", ("runs/aXb.json", b"x"))
    path.write_bytes(path.read_bytes().replace(b"runs/aXb", b"runs/a\0b"))
    assert "is not a valid name." in refusal(path)


def test_bombs(tmp_path, monkeypatch):
    many = written(tmp_path / "many.zip", *((f"{number}", b"") for number in range(MAX_ENTRIES)))
    assert f"It has {MAX_ENTRIES + 1} parts" in refusal(many)
    dense = written(tmp_path / "dense.zip", ("runs/a.json", b" " * 5_000_000))
    assert "'runs/a.json' would unpack to 5.0 MB from" in refusal(dense)
    monkeypatch.setattr(archive_module, "MAX_TOTAL", 1_000)
    assert "Unpacked it would have" in refusal(written(tmp_path / "large.zip", ("a", os.urandom(2_000))))
    monkeypatch.setattr(archive_module, "MAX_VALUES", 100)
    monkeypatch.setattr(archive_module, "MAX_TOTAL", MAX_TOTAL)
    assert "has too many values." in refusal(written(tmp_path / "values.zip", ("runs/a.json", b"[1,1" * 60)))
    assert MAX_VALUES > 1_000_000


@pytest.mark.parametrize("claimed", [10, 100_000_000, 2**32 - 1])
def test_a_list_of_contents_that_claims_another_size(tmp_path, claimed):
    """The size stands 10 bytes before the end; Python would read as much as it says."""
    path = written(tmp_path / "a.zip")
    data = path.read_bytes()
    path.write_bytes(data[:-10] + struct.pack("<L", claimed) + data[-6:])
    assert refusal(path) == "The zip file is damaged."


def test_a_list_of_contents_that_is_long(tmp_path):
    infos = [zipfile.ZipInfo(f"runs/{number}.json") for number in range(20)]
    for info in infos:
        info.comment = b"x" * 60_000
    path = written(tmp_path / "a.zip", *((info, b"") for info in infos))
    assert refusal(path) == "Its list of contents is too long."


def test_a_submission_of_two_gigabytes_is_not_read(tmp_path):
    path = written(tmp_path / "a.zip")
    content = path.read_bytes()
    with path.open("wb") as stream:
        stream.seek(2_000_000_000)
        stream.write(content)
    tracemalloc.start()
    assert refusal(path) == "It has 2000 MB; at most 150 MB are read."
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_a_part_that_is_larger_than_it_says(tmp_path, monkeypatch):
    path = written(tmp_path / "a.zip", ("lab-log.jsonl", os.urandom(3_000)))
    monkeypatch.setattr(archive_module, "MAX_LOG", 2_000)
    assert refusal(path) == "'lab-log.jsonl' has more than 2.0 kB."


@pytest.mark.parametrize("cut", [0, 1, 30, 100, -1, -30])
def test_damaged_files(tmp_path, cut):
    path = written(tmp_path / "a.zip", ("lab-log.jsonl", b"x" * 300))
    path.write_bytes(path.read_bytes()[:cut])
    assert refusal(path) == "The zip file is damaged."


def test_a_part_that_was_changed_or_encrypted_or_packed_otherwise(tmp_path):
    path = written(tmp_path / "a.zip", compress=zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"a = 1", b"a = 2", 1))
    assert refusal(path) == "The zip file is damaged."
    assert "is packed in an unusual way." in refusal(written(tmp_path / "b.zip", compress=zipfile.ZIP_LZMA))
    data = bytearray(written(tmp_path / "c.zip").read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "c.zip").write_bytes(data)
    assert "is encrypted." in refusal(tmp_path / "c.zip")


def test_what_is_no_zip_file(tmp_path):
    (tmp_path / "text.zip").write_text("not a zip")
    (tmp_path / "folder.zip").mkdir()
    os.mkfifo(tmp_path / "pipe.zip")
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    (tmp_path / "empty.zip").write_bytes(empty.getvalue())
    sentences = {
        "text.zip": "The zip file is damaged.",
        "folder.zip": "It is not a file.",
        "pipe.zip": "It is not a file.",
        "empty.zip": "It has no notebooks; one is expected.",
        "none.zip": "There is no such file.",
    }
    assert {name: refusal(tmp_path / name) for name in sentences} == sentences
