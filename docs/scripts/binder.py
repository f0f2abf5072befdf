"""`python -m docs.scripts.binder` builds Binder's environment from the files in `binder/` and runs every lesson in it.

The files are read, not repeated. What conda would bring (Python, Node, pip) must be on this machine, in a version that
`environment.yml` allows; the rest is `postBuild` itself, in a copy of the repository and a new virtual environment.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
_DEPENDENCY = re.compile(r"([a-z0-9_-]+)\s*(.*)")
_KNOWN = {"python", "nodejs", "pip"}


def conda_packages(folder: Path) -> dict[str, SpecifierSet]:
    """What `environment.yml` asks for; conda's `=3.11` is any 3.11."""
    environment = yaml.safe_load((folder / "binder" / "environment.yml").read_text(encoding="utf-8"))
    found = {}
    for line in environment["dependencies"]:
        name, versions = _DEPENDENCY.fullmatch(line).groups()
        found[name] = SpecifierSet(re.sub(r"^=([\d.]+)$", r"==\1.*", versions))
    if unknown := set(found) - _KNOWN:
        raise SystemExit(
            f"environment.yml has {', '.join(unknown)}: teach docs/scripts/binder.py where to get it."
        )
    return found


def version_of(*command: str) -> str:
    said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"\d+(\.\d+)+", said)[0]


def find(wanted: SpecifierSet, *programs: str) -> str:
    """The first of these programs whose version is allowed."""
    for program in programs:
        if (path := shutil.which(program)) and wanted.contains(version_of(path)):
            return path
    raise SystemExit(
        f"Binder would have {programs[-1]} {wanted}; there is none here. Install it and try again."
    )


def copy_of_the_repository(target: Path) -> Path:
    """What a clone holds, with the changes that are not committed yet."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


def main() -> None:
    wanted = conda_packages(ROOT)
    find(wanted["nodejs"], "node")
    python = find(wanted["python"], "python3.11", "python3.12", "python3.13", sys.executable, "python3")
    with tempfile.TemporaryDirectory() as room:
        folder, home = copy_of_the_repository(Path(room) / "repository"), Path(room) / "environment"
        subprocess.run([python, "-m", "venv", home], check=True)
        own = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")
        environment = {name: value for name, value in os.environ.items() if name not in own}
        environment["PATH"] = f"{home / 'bin'}{os.pathsep}{environment['PATH']}"
        environment["JUPYTER_DATA_DIR"] = str(Path(room) / "jupyter")

        def run(*command: str) -> None:
            print("$", *command, flush=True)
            subprocess.run(command, cwd=folder, env=environment, check=True)

        run("python", "-m", "pip", "install", "--quiet", f"pip{wanted['pip']}")
        run("bash", "binder/postBuild")
        assert (folder / "agent_nb" / "static" / "widget.js").exists(), "the page was not built"
        size = sum(
            path.stat().st_size for path in home.rglob("*") if path.is_file() and not path.is_symlink()
        )
        run("python", "-m", "docs.scripts.execute_notebooks", "--no-save")
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print(
            f"Every lesson runs. The environment is {size // 1_000_000} MB; the largest process had {largest} MB,"
        )
        print("those of the build included.")


if __name__ == "__main__":
    main()
