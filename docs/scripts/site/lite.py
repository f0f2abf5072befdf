"""JupyterLite with agent_nb and all it needs inside, so that `%load_ext agent_nb` works at once."""

import json
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from docs.scripts.site import lock as locks
from docs.scripts.site import locked, patches
from docs.scripts.site.command import run
from docs.scripts.site.wheels import Platform, Wheel, collect, download_locked, needed, wheels_in

ROOT = Path(__file__).parents[3]
PYODIDE = "pyodide"
KERNEL_EXTENSION = Path(sys.prefix, "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension")
# The kernel starts with these loaded. What is not in this list it would install one by one, which takes longer.
PACKAGES = ("micropip", "piplite", "ipykernel", "comm", "pyodide-kernel", "ipython", "agent-nb")
# No other package brings these with it: agent_nb loads an SDK when its vendor is first asked, and IPython works without
# jedi (see patches.py).
LATER = ("anthropic", "openai", "jedi")
CORE = ("pyodide.asm.wasm", "pyodide.asm.mjs", "python_stdlib.zip")

CASSETTES = {"name": "jsonl", "extensions": [".jsonl"], "mimeTypes": ["text/plain"], "fileFormat": "text"}


def build(work: Path, contents: Path, target: Path, *, offline: bool) -> None:
    """Builds JupyterLite with the files of `contents` into `target`."""
    folder = work / "lite"
    lite_pyodide(work, folder / "static" / "pyodide", offline=offline)
    (folder / "jupyter-lite.json").write_text(json.dumps(settings(offline=offline)), encoding="utf-8")
    build_settings = {
        "LiteBuildConfig": {
            "extra_file_types": {"jsonl": CASSETTES},
            "federated_extensions": [str(ROOT / "agent_nb/static/lab")],
        }
    }
    (folder / "jupyter_lite_config.json").write_text(json.dumps(build_settings), encoding="utf-8")
    command = [sys.executable, "-m", "jupyter", "lite", "build", "--no-sourcemaps", "--apps", "lab"]
    command += ["--lite-dir", str(folder), "--contents", str(contents), "--output-dir", str(target)]
    run(command, folder)
    patches.apply(target)


def settings(*, offline: bool) -> dict:
    """JupyterLite's settings: what the kernel loads when it starts, and whether `%pip` may use PyPI."""
    kernel = {"loadPyodideOptions": {"packages": list(PACKAGES)}, "disablePyPIFallback": offline}
    plugins = {"@jupyterlite/pyodide-kernel-extension:kernel": kernel}
    page = {"appName": "agent_nb", "litePluginSettings": plugins}
    return {"jupyter-lite-schema-version": 0, "jupyter-config-data": page}


def lite_pyodide(work: Path, folder: Path, *, offline: bool) -> None:
    """Pyodide from npm, our wheels beside it, and a lock file that names them."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL

    core = download_pyodide(work)
    locked.check([core])
    lock, given, platform = unpacked(work, folder, core)
    (work / "wheels").mkdir()
    wheels, depends = locked_wheels(given, work / "wheels", platform)
    path = folder / "pyodide-lock.json"
    wheels = {name: Wheel(Path(shutil.copy(wheel.path, folder))) for name, wheel in wheels.items()}
    needed_at_start, _ = needed(
        PACKAGES, {name: wheels[name] for name in wheels if name not in LATER}, platform
    )
    at_start = [wheels[name].path.name for name in needed_at_start]
    run(["node", str(Path(__file__).with_name("bytecode.mjs")), str(folder), *at_start], folder)
    sizes = {name: (folder / name).stat().st_size for name in (*CORE, *at_start)}
    (folder / "start.json").write_text(json.dumps(sizes), encoding="utf-8")
    own = locks.entries(wheels, depends, later=LATER)
    lock = locks.cut_down(lock, own) if offline else locks.extended(lock, own, PYODIDE_CDN_URL)
    path.write_text(json.dumps(lock, separators=(",", ":")), encoding="utf-8")


def locked_wheels(
    given: list[Path], downloads: Path, platform: Platform
) -> tuple[dict[str, Wheel], dict[str, list[str]]]:
    """The wheels that the site's lock names and our own, with the requirements of each."""
    ours, theirs = (set(wheels_in(path)) for path in given)
    rows = (row for name, row in locked.read().items() if name not in {PYODIDE, *theirs})
    download_locked(rows, downloads, platform)
    found = wheels_in(*given, downloads)
    depends, missing = needed(PACKAGES, found, platform)
    if missing:
        names = ", ".join(sorted(each.name for each in missing))
        raise SystemExit(f"{locked.FILE.name} lacks {names}. `make site-lock` writes it again.")
    locked.check(found[name].locked for name in depends if name not in ours)
    return {name: found[name] for name in depends}, depends


def unpacked(work: Path, folder: Path, core: locked.Locked) -> tuple[locks.Lock, list[Path], Platform]:
    """Pyodide in the folder: its lock, the folders with wheels that are not downloaded, and its platform."""
    unpack_pyodide(work / f"{PYODIDE}-{core.version}.tgz", folder)
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
    build_wheel(work / "wheel")
    return lock, [work / "wheel", KERNEL_EXTENSION / "static" / "pypi"], Platform.of(lock)


def renew_lock() -> None:
    """Writes the site's lock anew, with the newest releases that fit."""
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        core = download_pyodide(work)
        _, given, platform = unpacked(work, work / "pyodide", core)
        (work / "wheels").mkdir()
        wheels, _ = collect(PACKAGES, given, work / "wheels", platform)
        ours = set(wheels_in(given[0]))
        locked.write([core, *(wheel.locked for name, wheel in wheels.items() if name not in ours)])


def download_pyodide(work: Path) -> locked.Locked:
    """Pyodide's core as npm has it."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    run(["npm", "pack", "--silent", f"{PYODIDE}@{PYODIDE_VERSION}"], work)
    return locked.Locked(
        PYODIDE, PYODIDE_VERSION, locked.file_hash(work / f"{PYODIDE}-{PYODIDE_VERSION}.tgz")
    )


def unpack_pyodide(package: Path, folder: Path) -> None:
    """The interpreter, the standard library and the lock file."""
    folder.mkdir(parents=True)
    with tarfile.open(package) as archive:
        for member in archive.getmembers():
            name = member.name.removeprefix("package/")
            if name.endswith((".mjs", ".wasm", ".zip", "pyodide-lock.json")):
                (folder / name).write_bytes(archive.extractfile(member).read())


def build_wheel(folder: Path) -> None:
    """Our own wheel, with the widget's page as `make build` left it."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    run(command, ROOT, AGENT_NB_SKIP_BUILD="1")
