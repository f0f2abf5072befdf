"""Finds installed modules and what packages offer by entry points, and nothing that lies beside a notebook.

`sys.path` begins with the working folder in a kernel: a module or a `*.dist-info` in a downloaded folder would be found
there, and its code run.
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
    """A finder of `sys.meta_path` that leaves a folder out of the imports that our code causes, if there is another
    module of that name. Imports of the user's code are as before."""

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.abspath(folder)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        package = name.split(".")[:-1]  # a folder `google` would add to the installed one
        own = {os.path.join(folder, *package) for folder in (self._folder, os.getcwd())}
        entries = sys.path if path is None else path
        others = [entry for entry in entries if os.path.abspath(entry) not in own]
        return PathFinder.find_spec(name, others) if len(others) < len(entries) and self._is_ours() else None

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
    """The entry points of these groups, by package and name, so that their order is the same everywhere."""
    found = {
        (package.name, point.group, point.name): point
        for package in distributions(path=[str(folder) for folder in _site_packages()])
        for point in package.entry_points
        if point.group in groups
    }
    return (found[key] for key in sorted(found))


def load_entry_point(point: EntryPoint) -> object:
    """The object that an entry point names; raises `ImportError` if its module is not the installed one."""
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
    """The project's folder, if the package was installed with `pip install -e`."""
    text = package.read_text("direct_url.json") if package else None
    origin = json.loads(text) if text else {}
    if origin.get("dir_info", {}).get("editable"):
        yield Path(unquote(urlsplit(origin["url"]).path)).resolve()
