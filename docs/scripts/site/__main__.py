"""Builds the site into `build/site`, or with `--offline` into `build/site-offline`, where it needs no other host."""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from docs.scripts.site import lessons, lite
from docs.scripts.site.command import run

ROOT = Path(__file__).parents[3]
SOURCES = (
    "docs/*.md",
    "docs/how-to/*.md",
    "docs/internals/**/*.md",
    "docs/pictures/*.png",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
)


def stage(pages: Path, live: Path, *, offline: bool) -> None:
    """Copies what the site is made of, in the layout of the repository, so that links between the files hold."""
    shutil.copytree(ROOT / "docs" / "site", pages)
    for pattern in SOURCES:
        for path in ROOT.glob(pattern):
            copy = pages / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    notebooks = ROOT / "notebooks"
    ignored = shutil.ignore_patterns("*.ipynb", "*.py", ".*", "__*")  # a lesson for marimo is a .py file
    shutil.copytree(notebooks / "images", pages / "notebooks" / "images", ignore=ignored)
    shutil.copytree(notebooks, live, ignore=ignored)
    lessons.write(sorted(notebooks.glob("*.ipynb")), pages / "notebooks", live, offline=offline)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.scripts.site", description=__doc__)
    parser.add_argument("--offline", action="store_true", help="leave out what would come from other hosts")
    parser.add_argument("--output", type=Path, help="the folder to write instead")
    parser.add_argument(
        "--renew-lock", action="store_true", help="only write the lock of the browser's wheels anew"
    )
    given = parser.parse_args()
    if given.renew_lock:
        lite.renew_lock()
        return
    offline = given.offline
    target = (
        given.output.resolve() if given.output else ROOT / "build" / ("site-offline" if offline else "site")
    )
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        pages, live = work / "pages", work / "live"
        stage(pages, live, offline=offline)
        build = [
            sys.executable,
            "-m",
            "sphinx",
            "-q",
            "-W",
            "--keep-going",
            "-b",
            "html",
            str(pages),
            str(target),
        ]
        run(build, pages)
        lite.build(work, live, target / "lite", offline=offline)
    shutil.rmtree(target / ".doctrees", ignore_errors=True)
    shown = os.path.relpath(target)
    print(
        f"The site is in {shown}. To look at it: python -m http.server --bind 127.0.0.1 --directory {shown}"
    )


if __name__ == "__main__":
    main()
