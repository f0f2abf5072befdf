"""Where the overview is written, and what is left alone."""

from dataclasses import replace

import pytest

from agent_nb import Files
from agent_nb.errors import ConfigError
from agent_nb.lab.marks.command import main
from agent_nb.lab.marks.gallery_folder import GalleryFolder, newest_page
from tests.support.submissions import live_run, submit


def test_one_file_per_student_beside_the_overview(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    submit(tmp_path / "ann.zip", [live_run("<p>1</p>")])
    (tmp_path / "bob.zip").write_text("x")
    submit(tmp_path / "三.zip", [live_run("<p>3</p>")])
    folder = tmp_path / "Klasse 3_pages"
    folder.mkdir()
    for name in ("0009.html", "notes.html"):
        (folder / name).touch()
    assert main([".", "-o", "marks.csv", "--html", "Klasse 3.html"]) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["0001.html", "0003.html", "notes.html"]
    page = (tmp_path / "Klasse 3.html").read_text(encoding="utf-8")
    assert 'src="Klasse%203_pages/0003.html"' in page
    assert "0002.html" not in page


def test_places_that_are_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "marks_pages").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "file_pages").touch()
    for name in ("marks.html", "file.html", "marks.csv", "."):
        with pytest.raises(ConfigError, match=r"name a file such as|must be a folder of its own"):
            GalleryFolder(tmp_path / name)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_newest_page_by_the_log_with_its_files_and_edits(tmp_path):
    files = Files({"index.html": '<link rel="stylesheet" href="a.css">', "a.css": "p { color: teal }"})
    styled = replace(live_run("", "1"), name="z", files=files)
    page = newest_page(submit(tmp_path / "a.zip", [live_run("<p>old</p>", "2"), styled]))
    assert "color: teal" in page
    assert "Content-Security-Policy" in page
    edited = styled.with_files({"index.html": "<p>Mine</p>"})
    assert "<p>Mine</p>" in newest_page(submit(tmp_path / "b.zip", [edited]))


def test_submissions_without_pages(tmp_path):
    (tmp_path / "b.zip").write_text("x")
    assert newest_page(tmp_path / "b.zip") is None
    no_page = replace(live_run(""), files=Files({"a.txt": "x"}))
    assert newest_page(submit(tmp_path / "c.zip", [no_page])) is None
