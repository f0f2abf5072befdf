import copy
import io
import json
import os
import pickle
import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent_nb.files as module
from agent_nb._base.secrets import mask
from agent_nb.core.errors import FileError
from agent_nb.files import MAX_READ_BYTES, Files, count_lines, human_size, media_type, safe_path

CONTENTS = st.text(max_size=20) | st.binary(max_size=20)
STEPS = st.lists(
    st.tuples(st.sampled_from(["a.txt", "b.html", "c/d.css"]), CONTENTS | st.none()), max_size=12
)


def after(steps: list[tuple[str, str | bytes | None]]) -> Files:
    files = Files()
    for path, content in steps:
        if content is not None:
            files = files.write(path, content)
        elif path in files:
            files = files.delete(path)
    return files


def test_files_read_like_a_dict() -> None:
    files = Files({"./index.html": "<p>", "a.bin": b"\0"})
    assert files["index.html"] == "<p>"
    assert dict(files) == {"index.html": "<p>", "a.bin": b"\0"}
    assert files == {"index.html": "<p>", "a.bin": b"\0"}
    assert files.get("nope") is None
    with pytest.raises(KeyError):
        files["nope"]


def test_writing_leaves_the_old_value() -> None:
    first = Files({"a": "1"})
    second = first.write("a", "2").write("b", "3")
    assert dict(first) == {"a": "1"}
    assert dict(second) == {"a": "2", "b": "3"}
    assert second.versions("a") == ("1", "2")
    assert dict(second.delete("a")) == {"b": "3"}
    assert "a" in second


def test_deleted_files_keep_their_versions() -> None:
    files = Files({"a": "1", "b": ""}).delete("a").write("a", "2")
    assert files.versions("a") == ("1", None, "2")
    assert list(files) == ["b", "a"]
    with pytest.raises(FileError, match="no file 'x'"):
        files.delete("x")


def test_same_content_is_no_version() -> None:
    files = Files({"a": "1"})
    assert files.write("a", "1") is files
    assert files.write("a", b"1").versions("a") == ("1", b"1")


def test_diff_goes_by_version_index() -> None:
    files = Files({"a": "1\n"}).write("a", "2\n").write("a", "3\n")
    assert "-2\n+3\n" in files.diff("a")
    assert files.diff("a", 0, 2) == files.diff("a", -3, -1)
    assert "-1\n+3\n" in files.diff("a", 0, 2)
    assert "@@ -0,0 +1 @@\n+1\n" in Files({"a": "1\n"}).diff("a")
    assert "-3\n" in files.delete("a").diff("a")
    with pytest.raises(FileError, match="3 version"):
        files.diff("a", 0, 7)


def test_binary_diff_says_so() -> None:
    files = Files({"a": b"\0"}).write("a", b"\1")
    assert files.diff("a") == "Binary files a/a and b/a differ\n"


def test_entry_is_the_page() -> None:
    assert Files({"b.html": "", "index.html": ""}).entry == "index.html"
    assert Files({"x.css": "", "b.html": "", "c.html": ""}).entry == "b.html"
    assert Files({"x.css": ""}).entry is None


def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    files = Files({"a": "x\ud83dy"})
    assert files["a"] == "x\ufffdy"
    files.save(tmp_path)
    assert (tmp_path / "a").read_text(encoding="utf-8") == "x\ufffdy"


@pytest.mark.parametrize("content", [b"x", bytearray(b"x"), memoryview(b"x")])
def test_bytes_come_in_any_form(content: bytes) -> None:
    assert type(Files({"a": content})["a"]) is bytes


def test_other_content_is_refused() -> None:
    with pytest.raises(FileError, match="is a int: use text or bytes"):
        Files({"a": 1})  # type: ignore[dict-item]


def test_oversized_files_are_refused_in_words() -> None:
    files = Files({"a": "kept"})
    with pytest.raises(FileError, match=r"too large \(50 MB; the limit for text files is 5\.0 MB\)"):
        files.write("a", "x" * 50_000_000)
    with pytest.raises(FileError, match="limit for binary files is 20 MB"):
        files.write("a", bytes(20_000_001))
    assert dict(files) == {"a": "kept"}


def test_size_counts_bytes_not_characters() -> None:
    files = Files({"a": "é" * 10, "page": "x🥐" * 100_000})
    assert files.size("a") == 20
    assert files.size("page") == 500_000
    with pytest.raises(FileError, match="too large"):
        files.write("a", "é" * (module.MAX_TEXT_BYTES // 2 + 1))


def test_total_and_number_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TOTAL_BYTES", 10)
    monkeypatch.setattr(module, "MAX_FILES", 2)
    files = Files({"a": "12345", "b": "1234"})
    assert files.write("a", "123456")["a"] == "123456"
    with pytest.raises(FileError, match=r"to 11 bytes \(the limit is 10 bytes\)"):
        files.write("a", "1234567")
    with pytest.raises(FileError, match="would be file 3"):
        files.write("c", "")
    assert list(files.delete("a").write("c", "")) == ["b", "c"]


def test_name_is_file_or_folder() -> None:
    for first, second in [("a", "a/b"), ("a/b/c", "a/b")]:
        with pytest.raises(FileError, match="a name is a file or a folder"):
            Files({first: ""}).write(second, "")
    assert list(Files({"a": "", "ab/c": ""})) == ["a", "ab/c"]


def test_save_writes_exact_bytes(tmp_path: Path) -> None:
    files = Files({"index.html": "a\r\nb\n", "img/x.png": b"\x89PNG\0"})
    saved = files.save(tmp_path / "site")
    assert saved == [tmp_path / "site/index.html", tmp_path / "site/img/x.png"]
    assert saved[0].read_bytes() == b"a\r\nb\n"
    assert saved[1].read_bytes() == b"\x89PNG\0"
    files.save(str(tmp_path / "site"))
    assert sorted(path.name for path in (tmp_path / "site").iterdir()) == ["img", "index.html"]


def test_failed_save_leaves_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a"
    target.write_text("old")

    def broken(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        Files({"a": "new"}).save(tmp_path, overwrite=True)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_save_refuses_links_that_lead_out(tmp_path: Path) -> None:
    outside, site = tmp_path / "outside", tmp_path / "site"
    outside.mkdir()
    site.mkdir()
    (site / "img").symlink_to(outside)
    with pytest.raises(FileError, match="by a link"):
        Files({"a": "1", "img/new/x": "2"}).save(site)
    assert list(outside.iterdir()) == []
    assert not (site / "a").exists()


def test_save_replaces_a_link_itself(tmp_path: Path) -> None:
    outside, site = tmp_path / "secret", tmp_path / "site"
    outside.write_text("keep")
    site.mkdir()
    (site / "a").symlink_to(outside)
    with pytest.raises(FileError, match="has content not written by a run: pass `overwrite=True`"):
        Files({"a": "new"}).save(site)
    Files({"a": "new"}).save(site, overwrite=True)
    assert outside.read_text() == "keep"
    assert (site / "a").read_text() == "new"


def test_save_refuses_to_replace_folders(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        Files({"a": ""}).save(tmp_path)


@pytest.mark.parametrize("path", [".git/config", "img/.hidden/x.png", ".env"])
def test_save_writes_no_hidden_file(tmp_path: Path, path: str) -> None:
    (tmp_path / ".git").mkdir()
    before = sorted(tmp_path.rglob("*"))
    files = Files({"index.html": "<p>", path: "[core]"})
    with pytest.raises(FileError, match=f"'{re.escape(path)}' is hidden.*files.delete"):
        files.save(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
    assert files.delete(path).save(tmp_path) == [tmp_path / "index.html"]


@pytest.mark.parametrize("name", ["analysis.ipynb", "OLD.IPYNB"])
def test_save_keeps_a_notebook_that_is_there(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("my work")
    with pytest.raises(FileError, match="is a notebook: move it or save elsewhere"):
        Files({"index.html": "", name: "{}"}).save(tmp_path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["my work"]
    Files({name: "{}"}).save(tmp_path / "site")
    assert (tmp_path / "site" / name).read_text() == "{}"


def test_save_finds_a_file_in_the_way_first(tmp_path: Path) -> None:
    (tmp_path / "img").write_text("mine")
    with pytest.raises(FileError, match="is a file: move it"):
        Files({"index.html": "", "img/a/x.png": b""}).save(tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / "img"]


def test_zip_is_the_same_each_time() -> None:
    files = Files({"Übung 三.html": "é", "a/b.bin": b"\0"})
    assert files.zip() == Files(files).zip()
    with zipfile.ZipFile(io.BytesIO(files.zip())) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "Übung 三.html": "é".encode(),
            "a/b.bin": b"\0",
        }


@given(STEPS)
def test_wire_form_keeps_all_versions(steps: list[tuple[str, str | bytes | None]]) -> None:
    files = after(steps)
    again = Files.from_wire(files.to_wire())
    assert list(again.items()) == list(files.items())
    for path, _ in steps:
        if path in files._versions:
            assert again.versions(path) == files.versions(path)


@pytest.mark.parametrize("data", [{"../a": [{"text": ""}]}, {"a": []}, {"a": [{}]}, {"a": "x"}, []])
def test_foreign_wire_data_is_refused(data: object) -> None:
    with pytest.raises(FileError):
        Files.from_wire(data)  # type: ignore[arg-type]


def test_repr_names_files_and_sizes() -> None:
    assert repr(Files({"index.html": "x" * 6400})) == "Files(index.html (6.4 kB))"
    assert repr(Files()) == "Files()"
    assert repr(Files({str(n): "" for n in range(12)})).endswith("9 (0 bytes), and 2 more)")


def test_html_repr_is_an_escaped_table() -> None:
    shown = Files({"<b>.html": "x"}).write("<b>.html", "y")._repr_html_()
    assert re.findall(r"<td[^>]*>(.*?)</td>", shown) == ["&lt;b&gt;.html", "text/html", "1 byte", "2"]
    assert "no files" in Files()._repr_html_()


def test_files_can_be_copied_and_pickled() -> None:
    files = Files({"a": "1"}).write("a", "2")
    for again in (copy.deepcopy(files), pickle.loads(pickle.dumps(files))):
        assert again == files
        assert again.versions("a") == ("1", "2")


def test_sizes_are_given_in_words() -> None:
    sizes = [0, 1, 999, 1000, 6449, 9960, 182_000, 999_499, 999_500, 50_000_000]
    texts = "0 bytes,1 byte,999 bytes,1.0 kB,6.4 kB,10 kB,182 kB,999 kB,1.0 MB,50 MB"
    assert [human_size(size) for size in sizes] == texts.split(",")
    assert [count_lines(text) for text in ("", "a", "a\n", "a\n\n", "a\nb")] == [0, 1, 1, 2, 2]


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


@pytest.mark.parametrize(
    ("given_path", "path"),
    [
        ("index.html", "index.html"),
        ("./css/site.css", "css/site.css"),
        ("css//./site.css", "css/site.css"),
        ("css\\site.css", "css/site.css"),
        (" notes.txt ", "notes.txt"),
        (".well-known/a b.txt", ".well-known/a b.txt"),
        ("bilder/größe.png", "bilder/größe.png"),
        ("a..b/...", "a..b/..."),
        (".\\ a", "a"),
        ("a / b.css", "a/b.css"),
    ],
)
def test_paths_have_one_form(given_path: str, path: str) -> None:
    assert safe_path(given_path) == path


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "needs a path"),
        ("   ", "needs a path"),
        (7, "needs a path"),
        ("/etc/passwd", "is absolute"),
        ("~/x", "is absolute"),
        ("./~", "is absolute"),
        ("\\\\server\\share", "is absolute"),
        ("C:\\x", "is absolute"),
        ("c:x", "is absolute"),
        ("https://example.org/x", "has a colon"),
        ("../x", "without '..'"),
        ("a/../../x", "without '..'"),
        ("a\\..\\x", "without '..'"),
        ("a\0b", "control characters"),
        ("a\nb", "control characters"),
        ("a\ud800", "control characters"),
        ("css/", "is a folder"),
        (".", "names no file"),
        ("x" * 201, "too long"),
        ("長" * 67, "too long"),
    ],
)
def test_unsafe_paths_are_refused_clearly(path: str, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        safe_path(path)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="./\\~:a C\0", max_size=12) | st.text(max_size=20))
def test_accepted_paths_stay_inside(path: str) -> None:
    try:
        safe = safe_path(path)
    except FileError:
        return
    assert safe_path(safe) == safe
    assert not safe.startswith("/")
    assert not {"", ".", ".."} & set(safe.split("/"))


def test_media_types_do_not_depend_on_system() -> None:
    assert media_type("a.js") == "text/javascript"
    assert media_type("A.HTML") == "text/html"
    assert media_type("LICENSE") == "text/plain"
    assert media_type("blob", b"") == "application/octet-stream"
