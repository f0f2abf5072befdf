"""Where the overview is written, and what is left alone."""

import pytest

from agent_nb.errors import ConfigError
from agent_nb.lab.marks.command import main
from agent_nb.lab.marks.gallery_folder import GalleryFolder
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
