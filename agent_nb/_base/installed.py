"""Finds installed modules and entry points, and ignores files beside a notebook.

A kernel's `sys.path` starts with the working folder: modules and `*.dist-info` of a downloaded folder would be found
there, and their code run.
"""

import importlib.util
import json
import os
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path
from urllib.parse import unquote, urlsplit


class InstalledFirst:
    """A `sys.meta_path` finder that skips a folder for imports from this package, if the module exists elsewhere.
    Imports from the user's code are unaffected."""

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.abspath(folder)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        package = name.split(".")[:-1]  # a folder `google` would extend the installed namespace
        skipped = {os.path.join(folder, *package) for folder in (self._folder, os.getcwd())}
        entries = sys.path if path is None else path
        paths = [entry for entry in entries if os.path.abspath(entry) not in skipped]
        return PathFinder.find_spec(name, paths) if len(paths) < len(entries) and self._is_ours() else None

    def _is_ours(self) -> bool:
        frame = sys._getframe(2)
        while frame := frame.f_back:  # type: ignore[assignment]
            module = frame.f_globals.get("__name__", "__main__")
            if module.partition(".")[0] == __package__.partition(".")[0]:
                return True
            if module == "__main__" or os.path.dirname(frame.f_code.co_filename) == self._folder:
                return False
        return False


def entry_points(*groups: str) -> Iterator[EntryPoint]:
    """Yield the entry points of these groups, sorted by package and name."""
    points = {
        (package.name, point.group, point.name): point
        for package in distributions(path=[str(folder) for folder in _site_packages()])
        for point in package.entry_points
        if point.group in groups
    }
    return (points[key] for key in sorted(points))


def load_entry_point(point: EntryPoint) -> object:
    """Load an entry point; raises `ImportError` if its module is not the installed one."""
    package, top = point.dist, point.module.partition(".")[0]
    if top != __package__.partition(".")[0]:
        spec = importlib.util.find_spec(top)
        places = [*(spec.submodule_search_locations or ()), spec.origin or ""] if spec else []
        homes = [*_site_packages(), *_editable_folder(package)]
        if not any(Path(place).resolve().is_relative_to(home) for place in places for home in homes if place):
            raise ImportError(f"`{top}` is not the installed module: {places[0] if places else 'not found'}.")
    return point.load()


def _site_packages() -> list[Path]:
    names = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        names.append(site.getusersitepackages())
    return list(dict.fromkeys(Path(name).resolve() for name in names))


def _editable_folder(package: Distribution | None) -> Iterator[Path]:
    """Yield the project's folder if the package was installed with `pip install -e`."""
    text = package.read_text("direct_url.json") if package else None
    origin = json.loads(text) if text else {}
    if origin.get("dir_info", {}).get("editable"):
        yield Path(unquote(urlsplit(origin["url"]).path)).resolve()
