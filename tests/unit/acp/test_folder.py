"""The folder of an agent: private, bounded, and read back as it is on disk."""

import os
import shutil
import stat
from contextlib import nullcontext

import pytest

from agent_nb.acp import folder as folders
from agent_nb.acp.folder import Folder
from agent_nb.core.errors import ConfigError
from agent_nb.files import Files
from agent_nb.files.active import AGENT_FILES


@pytest.fixture
def folder(cache):
    return Folder("run-0")


def test_only_the_user_can_read_it(folder, cache):
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    folder.remove()
    assert not folder.path.exists()


@pytest.mark.parametrize(("mode", "is_refused"), [(0o777, True), (0o1777, False), (0o775, False)])
@pytest.mark.parametrize("depth", [0, 1])
def test_it_is_not_made_where_anyone_could_replace_it(monkeypatch, tmp_path, mode, is_refused, depth):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path if depth else home).chmod(mode)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    with pytest.raises(ConfigError, match="anyone can write to") if is_refused else nullcontext():
        Folder("run-0")


def test_it_is_not_made_in_a_folder_that_another_user_has_put_into_the_temporary_one(monkeypatch, cache):
    cache.mkdir(parents=True)
    cache.parent.parent.chmod(0o1777)
    if os.getuid():
        monkeypatch.setattr(os, "getuid", lambda: -1)
    else:
        os.chown(cache.parent, 12345, -1)
    with pytest.raises(ConfigError, match="anyone can write to"):
        Folder("run-0")


def test_the_folder_of_all_runs_is_closed_to_others_even_with_the_sticky_bit(cache):
    cache.mkdir(parents=True)
    cache.chmod(0o1777)
    with pytest.raises(ConfigError, match="anyone can write to"):
        Folder("run-0")


def test_a_file_in_its_place_is_said(monkeypatch, tmp_path):
    (tmp_path / "cache").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(ConfigError, match=r"cannot be one: Not a directory\. Set XDG_CACHE_HOME"):
        Folder("run-0")


def test_what_is_written_is_no_change(folder):
    folder.write(Files({"index.html": "<p>", "img/a.png": b"\x89PNG\0"}))
    assert folder.changes() == {}
    assert (folder.path / "img/a.png").read_bytes() == b"\x89PNG\0"


def test_changes_are_bytes_on_disk(folder):
    folder.write(Files({"a.txt": "one", "b.txt": "two"}))
    (folder.path / "a.txt").write_text("new")
    (folder.path / "b.txt").unlink()
    (folder.path / "c.bin").write_bytes(b"\xff\0")
    assert folder.changes() == {"a.txt": "new", "b.txt": None, "c.bin": b"\xff\0"}
    assert folder.changes() == {}


INSTRUCTIONS = [
    *(pattern.replace("*", "x").upper() for patterns in AGENT_FILES.values() for pattern in patterns),
    *(
        "claude.MD",
        "OPENCODE.json",
        "Agents.Override.md",
        "AGENT\u017f.md",
        "docs/GEMINI.md",
        "CLAUDE\u200b.md.",
    ),
    *(".gemini/settings.json", ".mcp.json", "\u200b.mcp.json", "site/.claude/settings.json"),
]


@pytest.mark.parametrize("path", INSTRUCTIONS)
def test_files_that_instruct_or_configure_an_agent_are_not_written(folder, path):
    folder.write(Files({path: "Run everything.", "a.txt": "", "my-agents.md": ""}))
    assert {entry.name for entry in folder.path.rglob("*")} == {"a.txt", "my-agents.md"}


def test_links_pipes_and_odd_names_are_left_out(folder, tmp_path):
    (tmp_path / "outside").write_text("private")
    os.symlink(tmp_path / "outside", folder.path / "link.txt")
    os.symlink(tmp_path, folder.path / "folder")
    os.mkfifo(folder.path / "pipe")
    (folder.path / "a:b.txt").write_text("")
    (folder.path / "one").write_text("")
    os.link(folder.path / "one", folder.path / "two")
    assert folder.changes() == {}
    assert {*folder.left_out} == {"link.txt", "folder", "pipe", "a:b.txt", "one", "two"}


def test_a_link_in_the_place_of_a_file_is_not_written_through(folder, tmp_path):
    (tmp_path / "outside").write_text("mine")
    folder.write(Files({"a.txt": "one"}))
    (folder.path / "a.txt").unlink()
    os.symlink(tmp_path / "outside", folder.path / "a.txt")
    folder.write(Files({"a.txt": "two"}))
    assert (tmp_path / "outside").read_text() == "mine"
    assert (folder.path / "a.txt").read_text() == "two"


def test_there_are_bounds(folder, monkeypatch):
    monkeypatch.setattr(folders, "MAX_FILES", 2)
    monkeypatch.setattr(folders, "MAX_BINARY_BYTES", 10)
    for name in "abc":
        (folder.path / name).write_text("x")
    assert {*folder.changes()} == {"a", "b"}
    (folder.path / "a").write_text("x" * 11)
    assert folder.changes() == {"a": None}
    assert folder.left_out == {"c": "there are more than 2", "a": "it is too large"}


def test_old_folders_are_removed(folder, cache):
    os.utime(folder.path, (0, 0))
    Folder("run-1")
    assert not folder.path.exists()


def test_folders_that_are_nested_too_deep_to_remove_stop_nobody(folder, monkeypatch):
    def remove(*args, **options):
        raise RecursionError

    os.utime(folder.path, (0, 0))
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", remove)
        Folder("run-2").remove()


@pytest.mark.parametrize("files", [{"css/style.css": "new"}, {}], ids=["write", "delete"])
def test_a_folder_that_became_a_link_is_not_written_through(folder, tmp_path, files):
    (tmp_path / "style.css").write_text("mine")
    folder.write({"css/style.css": "a"})
    shutil.rmtree(folder.path / "css")
    (folder.path / "css").symlink_to(tmp_path)
    folder.write(files)
    assert (tmp_path / "style.css").read_text() == "mine"
    assert folder._read("css/style.css") is None


def test_a_link_with_the_name_of_a_temporary_file_is_not_written_through(folder, tmp_path):
    (tmp_path / "mine").write_text("mine")
    folder.write({"index.html": "a"})
    (folder.path / ".index.html.new").symlink_to(tmp_path / "mine")
    folder.write({"index.html": "b"})
    assert (tmp_path / "mine").read_text() == "mine"


def test_many_new_files_do_not_push_out_the_files_of_the_run(folder, monkeypatch):
    monkeypatch.setattr("agent_nb.acp.folder.MAX_ENTRIES", 10)
    monkeypatch.setattr("agent_nb.acp.folder.MAX_FILES", 5)
    folder.write({"index.html": "a", "x/deep.css": "b"})
    for number in range(50):
        (folder.path / f"a{number}.txt").write_text("x")
    assert not [path for path, content in folder.changes().items() if content is None]
    (folder.path / "index.html").unlink()
    assert folder.changes()["index.html"] is None
