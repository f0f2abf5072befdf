"""What the site is made of: the wheels for the browser, the lock file that names them, the lessons."""

import hashlib
import importlib.util
import zipfile
from importlib import metadata
from pathlib import Path

import nbformat
import pytest

from docs.scripts.site import bytecode, lessons, lite, lock, locked, wheels
from tests.support import ROOT

INFO = {"python": "3.14.2", "abi_version": "2026_0", "platform": "emscripten_5_0_3", "arch": "wasm32"}
BROWSER = wheels.Platform.of({"info": INFO})


def write_wheel(folder: Path, name: str, *requires: str, extras: tuple[str, ...] = ()) -> Path:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    folder.mkdir(exist_ok=True)
    lines = ["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0"]
    lines += [f"Provides-Extra: {extra}" for extra in extras] + [
        f"Requires-Dist: {each}" for each in requires
    ]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}-1.0.dist-info/METADATA", "\n".join(lines))
        archive.writestr(f"{name}/__init__.py", f"# {folder.name}")
        archive.writestr(f"{name}-1.0.dist-info/RECORD", f"{name}/__init__.py,,")
    return path


def test_the_wheels_are_those_that_the_browser_needs(tmp_path):
    write_wheel(
        tmp_path,
        "agent_nb",
        "Fetch.Lib[fast]>=1; python_version >= '3.14'",
        "sockets; sys_platform != 'emscripten'",
    )
    write_wheel(
        tmp_path,
        "fetch_lib",
        "js_fetch; sys_platform == 'emscripten'",
        "quick; extra == 'fast'",
        "slow; extra == 'all'",
        extras=("fast", "all"),
    )
    for name in ("js_fetch", "quick", "slow", "sockets"):
        write_wheel(tmp_path, name)
    depends, missing = wheels.needed(["agent-nb"], wheels.wheels_in(tmp_path), BROWSER)
    assert depends == {
        "agent-nb": ["fetch-lib"],
        "fetch-lib": ["js-fetch", "quick"],
        "js-fetch": [],
        "quick": [],
    }
    assert not missing


def test_a_requirement_without_a_wheel_is_downloaded_as_it_was_asked_for(tmp_path):
    write_wheel(tmp_path, "agent_nb", "jiter[x]>=0.19,<1; sys_platform == 'emscripten'")
    _, missing = wheels.needed(["agent-nb"], wheels.wheels_in(tmp_path), BROWSER)
    assert [(each.name, each.extras, str(each.specifier)) for each in missing] == [
        ("jiter", {"x"}, "<1,>=0.19")
    ]
    assert (BROWSER.version, BROWSER.tag) == ("3.14", "pyemscripten_2026_0_wasm32")


def test_the_kernels_own_wheels_win_over_downloaded_ones(tmp_path):
    own = write_wheel(tmp_path / "kernel", "ipykernel")
    write_wheel(tmp_path / "downloads", "ipykernel")
    assert wheels.wheels_in(tmp_path / "kernel", tmp_path / "downloads")["ipykernel"].path == own


@pytest.fixture
def own(tmp_path) -> dict:
    write_wheel(tmp_path, "micropip", "idna")
    write_wheel(tmp_path, "idna")
    found = wheels.wheels_in(tmp_path)
    return lock.entries(found, wheels.needed(["micropip"], found, BROWSER)[0])


PYODIDE_LOCK = {
    "info": INFO,
    "packages": {
        "micropip": {"file_name": "micropip-0.9-py3-none-any.whl", "sha256": "0" * 64},
        "numpy": {"file_name": "numpy-2.4.whl", "sha256": "1" * 64, "depends": []},
    },
}


def test_the_lock_that_needs_no_other_host_names_our_files_alone(own, tmp_path):
    cut = lock.cut_down(PYODIDE_LOCK, own)
    assert cut["info"] == INFO
    assert sorted(cut["packages"]) == ["idna", "micropip"]
    entry = cut["packages"]["micropip"]
    assert entry["sha256"] == hashlib.sha256((tmp_path / entry["file_name"]).read_bytes()).hexdigest()
    assert (entry["depends"], entry["imports"]) == (["idna"], ["micropip"])


def test_a_package_for_later_is_in_the_lock_and_comes_with_no_other(tmp_path):
    write_wheel(tmp_path, "agent_nb", "openai", "httpx2")
    write_wheel(tmp_path, "openai", "httpx2")
    write_wheel(tmp_path, "httpx2")
    found = wheels.wheels_in(tmp_path)
    entries = lock.entries(found, wheels.needed(["agent-nb"], found, BROWSER)[0], later=["openai"])
    assert {name: entry["depends"] for name, entry in entries.items()} == {
        "agent-nb": ["httpx2"],
        "httpx2": [],
        "openai": ["httpx2"],
    }


def test_a_wheel_gets_bytecode_in_place_of_its_sources_and_ours_beside_them(tmp_path, monkeypatch):
    path = write_wheel(tmp_path, "late_tea")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("late_tea/menu.py", "TEA = 'Sencha'")
    bytecode.compile_wheel(str(path))
    monkeypatch.syspath_prepend(str(path))
    menu = importlib.import_module("late_tea.menu")
    assert (menu.TEA, Path(menu.__file__).name) == ("Sencha", "menu.pyc")
    assert {"late_tea/menu.pyc", "late_tea/__init__.pyc"} <= set(map(str, metadata.files("late_tea")))
    assert wheels.Wheel(path).imports == ["late_tea"]

    ours = write_wheel(tmp_path, "agent_nb")
    bytecode.compile_wheel(str(ours))
    with zipfile.ZipFile(ours) as archive:
        cached = importlib.util.cache_from_source("agent_nb/__init__.py")
        assert {"agent_nb/__init__.py", cached} <= set(archive.namelist())


def test_the_public_lock_takes_the_rest_from_pyodides_own_host(own):
    packages = lock.extended(PYODIDE_LOCK, own, "https://cdn.example/full")["packages"]
    assert packages["numpy"]["file_name"] == "https://cdn.example/full/numpy-2.4.whl"
    assert packages["micropip"] == own["micropip"]


def test_python_starts_with_agent_nb_loaded_and_asks_nobody_offline():
    def kernel(*, offline):
        plugins = lite.settings(offline=offline)["jupyter-config-data"]["litePluginSettings"]
        return plugins["@jupyterlite/pyodide-kernel-extension:kernel"]

    assert "agent-nb" in kernel(offline=True)["loadPyodideOptions"]["packages"]
    assert kernel(offline=True)["disablePyPIFallback"]
    assert not kernel(offline=False)["disablePyPIFallback"]


@pytest.fixture
def locked_wheel(tmp_path) -> tuple[Path, Path]:
    """A wheel, and a lock that names it."""
    path, file = write_wheel(tmp_path, "idna"), tmp_path / "locked.txt"
    locked.write([wheels.Wheel(path).locked], file)
    return path, file


def test_the_sites_lock_names_the_wheel_that_was_found(locked_wheel):
    path, file = locked_wheel
    locked.check([wheels.Wheel(path).locked], file)
    assert locked.read(file) == {"idna": ("idna", "1.0", hashlib.sha256(path.read_bytes()).hexdigest())}


def test_a_changed_wheel_is_refused(locked_wheel):
    path, file = locked_wheel
    before = locked.file_hash(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("idna/more.py", "")
    with pytest.raises(SystemExit) as refused:
        locked.check([wheels.Wheel(path).locked], file)
    assert str(refused.value) == (
        f"idna 1.0 with SHA-256 {locked.file_hash(path)} is not what locked.txt names: 1.0 with SHA-256 {before}. "
        "If you trust what was found, `make site-lock` writes the lock again."
    )


def test_a_wheel_that_the_lock_does_not_name_is_refused(locked_wheel, tmp_path):
    other = wheels.Wheel(write_wheel(tmp_path, "jiter"))
    with pytest.raises(
        SystemExit, match=r"jiter 1\.0 .* is not what locked\.txt names: nothing of that name"
    ):
        locked.check([other.locked], locked_wheel[1])


def test_the_sites_lock_has_pyodide_and_neither_hosts_nor_paths():
    text = locked.FILE.read_text("utf-8")
    assert {"pyodide", "openai", "pyodide-kernel"} <= set(locked.read())
    assert len(locked.read()) == len(text.splitlines()) - 1
    assert not set("/@") & set(text)


def lesson(number: str):
    return nbformat.read(next(ROOT.glob(f"notebooks/{number}_*.ipynb")), as_version=4)


@pytest.mark.parametrize(
    ("number", "absent"),
    [("02", "no Pillow"), *((number, "no Matplotlib or pandas") for number in ("04", "11", "12"))],
)
def test_a_lesson_says_what_is_missing_offline_only(number, absent):
    assert absent in " ".join(lessons.missing(lesson(number), offline=True))
    assert not lessons.missing(lesson(number), offline=False)


def test_a_lesson_says_on_the_public_site_what_comes_from_elsewhere():
    note = lessons.as_live(lesson("04"), offline=False)["cells"][1]["source"]
    assert "Here Matplotlib and pandas come from `cdn.jsdelivr.net`" in note
    assert "ModuleNotFoundError" in note
    for number, offline in (("01", False), ("04", True)):
        live = lessons.as_live(lesson(number), offline=offline)
        assert not any("jsdelivr" in cell["source"] for cell in live["cells"])


def test_a_lesson_with_a_server_says_everywhere_that_a_browser_has_none():
    for offline in (True, False):
        live = lessons.as_live(lesson("08"), offline=offline)
        assert "A browser cannot start servers" in live["cells"][1]["source"]
    assert not lessons.missing(lesson("01"), offline=True)


def test_a_page_links_to_its_live_lesson_which_runs_on_the_browsers_kernel():
    saved = lesson("01")
    page = lessons.as_page(saved, "01_first_run.ipynb", offline=True)
    assert 'href="../lite/lab/index.html?path=01_first_run.ipynb"' in page["cells"][1]["source"]
    live = lessons.as_live(saved, offline=True)
    assert live["metadata"]["kernelspec"]["name"] == "python"
    assert [cell["source"] for cell in live["cells"]] == [cell["source"] for cell in saved["cells"]]
    assert all(cell["metadata"]["trusted"] for cell in live["cells"])
