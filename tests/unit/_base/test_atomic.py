"""Files that the package writes and reads by itself: never through a link, and all in one place."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import agent_nb
from agent_nb._base.atomic import append, check_place, folder_of, locked, read_plain, write_atomically

PACKAGE = Path(agent_nb.__file__).parent
WRITING = {
    *(
        "mkdir",
        "makedirs",
        "write_text",
        "write_bytes",
        "touch",
        "replace",
        "rename",
        "renames",
        "link",
        "symlink",
    ),
    *("hardlink_to", "symlink_to", "unlink", "remove", "rmdir", "removedirs", "rmtree", "truncate", "move"),
    *(
        "copy2",
        "copyfile",
        "copytree",
        "copyfileobj",
        "extract",
        "extractall",
        "make_archive",
        "unpack_archive",
    ),
    *("mkstemp", "mkdtemp", "TemporaryDirectory", "NamedTemporaryFile", "FileLock", "SoftFileLock", "memmap"),
}
MODULES = {"os", "shutil", "tempfile", "pathlib", "Path"}
SHORT = {"replace", "remove", "copy", "move", "link", "rename", "extract", "truncate"}
"""Names that texts and lists have, too: they count only as functions of a module."""
ALLOWED = {
    "_base/atomic.py": "the place",
    "acp/folder.py": "a folder of its own in the user's cache; deletes its files after `check_place`",
    "engine/batch/executor.py": "mkstemp makes a new file, whose name nobody knows",
    "engine/batch/runs.py": "makes the folder that the user named",
    "pages/chromium.py": "a new folder of its own below the system's temporary folder",
    "files/contents.py": "ordinary code that the user runs: cells made of a run do not need agent_nb",
    "notebook/kernel_tools/inherited.py": "opens again what the session has open",
    "features/certificate/fresh_kernel.py": "a new folder of its own below the system's temporary folder",
    "features/certificate/data.py": "in the fresh kernel, below that folder, after `is_below`",
    "features/lend/command.py": "deletes its own file in Jupyter's runtime folder; of a link, the link",
    "features/lend/lease.py": "deletes files of ended kernels in Jupyter's runtime folder; of a link, the link",
    "notebook/cell_runs.py": "deletes a recording, after `check_place`",
    "run/store.py": "deletes old runs, under a lock that refuses links",
    "run/replay_file.py": "a new folder of its own below the system's temporary folder",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "mine").write_text("mine")
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def _untouched(home: Path) -> Iterator[None]:
    yield
    outside = home.parent / "outside"
    assert [(file.name, file.read_text()) for file in outside.iterdir()] == [("mine", "mine")]


def test_appends_and_reads_a_plain_file(home: Path) -> None:
    append(home / "log", b"a\n", within=home)
    append(home / "log", b"b\n", within=home)
    assert read_plain(home / "log", within=home) == b"a\nb\n"
    assert read_plain(home / "log", within=home, last=2) == b"b\n"


@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_a_link_is_neither_extended_nor_read_nor_emptied(home: Path, make) -> None:
    make(home.parent / "outside" / "mine", home / "log")
    with pytest.raises(OSError, match="link"):
        append(home / "log", b"evil", within=home)
    with pytest.raises(OSError, match="link"):
        read_plain(home / "log", within=home)
    with pytest.raises(OSError, match="link"), locked(home / "log", within=home):
        pass


def test_a_dangling_link_makes_no_file(home: Path) -> None:
    (home / "log").symlink_to(home.parent / "outside" / "new")
    with pytest.raises(OSError, match="log is a link"):
        append(home / "log", b"evil", within=home)


@pytest.mark.parametrize("place", ["a/b/file", "a/file"])
def test_no_folder_below_may_be_a_link(home: Path, place: str) -> None:
    (home / place).parent.parent.mkdir(exist_ok=True)
    (home / place).parent.symlink_to(home.parent / "outside")
    for write in (append, write_atomically):
        with pytest.raises(OSError, match="is a link, and links are not followed"):
            write(home / place, b"evil", within=home)
    with pytest.raises(OSError, match="is a link"), locked(home / place, within=home):
        pass


def test_a_loop_of_links_is_refused(home: Path) -> None:
    (home / "a").symlink_to(home / "a")
    with pytest.raises(OSError, match="link"):
        append(home / "a" / "file", b"evil", within=home)


def test_a_path_that_leaves_its_folder_is_refused(home: Path) -> None:
    with pytest.raises(OSError, match="it is outside"):
        write_atomically(home / "../outside/new", b"evil", within=home)


def test_a_link_is_replaced_by_the_file(home: Path) -> None:
    (home / "file").symlink_to(home.parent / "outside" / "mine")
    write_atomically(home / "file", b"new", within=home)
    assert not (home / "file").is_symlink()
    assert (home / "file").read_bytes() == b"new"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_the_umask_decides_who_can_read_a_shared_file(home: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(home / "own", b"", within=home)
        write_atomically(home / "shared", b"", within=home, shared=True)
    finally:
        os.umask(before)
    assert [(home / name).stat().st_mode & 0o777 for name in ("own", "shared")] == [0o600, 0o640]


def test_the_folder_itself_may_be_behind_a_link(home: Path) -> None:
    (home.parent / "link").symlink_to(home)
    append(home.parent / "link" / "file", b"mine", within=home.parent / "link")
    assert (home / "file").read_bytes() == b"mine"


def test_a_relative_path_is_followed_as_far_as_it_is_written(home: Path) -> None:
    assert folder_of("site", home) == folder_of("a/../site", home) == home
    assert folder_of("../site", home) == home.parent
    assert folder_of(home / "site", home) is None
    assert folder_of("~/site", home) is None
    (home.parent / "site").symlink_to("outside")
    with pytest.raises(OSError, match="site is a link"):
        check_place(home / "../site/index.html", folder_of("../site", home))


def test_nothing_else_in_the_package_writes_files() -> None:
    found = {
        name
        for file in PACKAGE.rglob("*.py")
        if (name := file.relative_to(PACKAGE).as_posix()) and any(_writers(file))
    }
    assert found == set(ALLOWED)


def _writers(file: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and _writes(node):
            yield node


def _writes(call: ast.Call) -> bool:
    match call.func:
        case _ if call.args and ast.unparse(call.args[0]) == "os.devnull":
            return False
        case ast.Name(id="open") | ast.Attribute(value=ast.Name(id="io"), attr="open"):
            return _mode(call, 1) != "r"
        case ast.Attribute(value=ast.Name(id="os"), attr="open"):
            return True
        case ast.Name(id="ZipFile") | ast.Attribute(attr="ZipFile"):
            return not isinstance(call.args[0], ast.Name) or call.args[0].id not in ("buffer", "file")
        case ast.Attribute(attr="open") if call.args and _mode(call, 0) not in ("", "r"):
            return True
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in MODULES:
            return name in WRITING or name == "copy"
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in WRITING - SHORT
    return False


def _mode(call: ast.Call, place: int) -> str:
    """`w` for a mode that writes or is not known, `r` for one that reads; empty for what is no mode."""
    given = [each.value for each in call.keywords if each.arg == "mode"] or call.args[place : place + 1]
    if not given:
        return "r"
    if not isinstance(given[0], ast.Constant) or not isinstance(given[0].value, str):
        return "w" if place else ""
    return "w" if set(given[0].value) & set("wax+") else "r"
