"""Saving the files of a run from the widget, in a real browser."""

import zipfile
from datetime import datetime
from pathlib import Path

from tests.support.widget_stage import Stage, wrote

FILES = {
    "index.html": "<!doctype html><h1>Crème brûlée 🍮</h1>",
    "css/größe.css": "h1 { color: teal }",
    "empty.txt": "",
}


def save_all(stage: Stage, target: Path) -> Path:
    stage.widget.get_by_role("tab", name="Files").click()
    with stage.page.expect_download() as download:
        stage.widget.get_by_role("button", name="Save all").click()
    assert download.value.suggested_filename == "hero.zip"
    download.value.save_as(target)
    return target


def test_all_files_are_saved_as_one_archive(stage: Stage, tmp_path: Path):
    stage.play([event for path, text in FILES.items() for event in wrote(path, text)])
    with zipfile.ZipFile(save_all(stage, tmp_path / "first.zip")) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name).decode() for name in archive.namelist()} == FILES
        assert {datetime(*info.date_time) for info in archive.infolist()} == {datetime(1980, 1, 1)}
    again = save_all(stage, tmp_path / "second.zip")
    assert again.read_bytes() == (tmp_path / "first.zip").read_bytes()
