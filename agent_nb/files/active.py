"""Detects files that take effect next to a notebook without being opened."""

import os
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder, all_suffixes
from pathlib import Path, PurePosixPath

from agent_nb._base.atomic import read_file

_ACTING = {
    "lab.toml": "sets the rules of `%%agent` cells",
    "lab-log.jsonl": "is the log of a lab",
    "cassettes/*.jsonl": "is replayed instead of asking a model",
    "__marimo__/agent_nb/*.jsonl": "is replayed instead of asking a model",
    "sitecustomize.py": "runs when Python starts",
    "usercustomize.py": "runs when Python starts",
    "*.pth": "runs when Python starts",
    "*.pyc": "runs in place of a module",
    "conftest.py": "runs with the tests of this folder",
    **dict.fromkeys(("pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini"), "configures Python's tools"),
    **dict.fromkeys(("ipython*_config.*", "jupyter*_config.*"), "configures Jupyter"),
    **dict.fromkeys(("desktop.ini", "autorun.inf"), "configures Windows"),
}
"""Lowercase path patterns and the effect of a matching file. Hidden files are never saved."""


def acting_files(targets: Mapping[Path, bytes], home: Path) -> dict[Path, str]:
    """Return, by path, the effects of new files that act without being opened; `home` is the notebook's folder."""
    acts = {target: acts_by_itself(target, home) for target in targets}
    return {target: act for target, act in acts.items() if act and not _is_there(target, targets[target])}


def acts_by_itself(target: Path, home: Path) -> str:
    """Return the effect of a file at this path, such as "runs when Python starts"; empty if it has none."""
    path = PurePosixPath(*map(_as_found, target.parts))
    if act := next((act for pattern, act in _ACTING.items() if path.match(pattern)), ""):
        return act
    place = target.parent.resolve() / target.name
    modules = (_module(place, Path(entry or os.getcwd()).resolve()) for entry in (str(home), *sys.path))
    if module := next(filter(None, modules), ""):
        return f"would be imported as the module `{module}`"
    return ""


def _module(target: Path, folder: Path) -> str:
    """Return the module name under which Python would import the file from this folder, or ""."""
    if folder not in target.parents:
        return ""
    *packages, file = map(_as_found, target.relative_to(folder).parts)
    suffix = next((ending for ending in sorted(all_suffixes(), key=len)[::-1] if file.endswith(ending)), "")
    name = file.removesuffix(suffix)
    names = packages if name == "__init__" else [*packages, name]
    if not suffix or not names or not all(map(str.isidentifier, names)):
        return ""
    return ".".join(names) if len(names) == 1 or _is_namespace(names[0], folder) else ""


def _as_found(name: str) -> str:
    """Normalise a name: some file systems ignore case, trailing dots and invisible characters."""
    return "".join(filter(str.isprintable, name)).rstrip(". ").casefold()


def _is_namespace(package: str, folder: Path) -> bool:
    """Whether the package has portions in other folders that a new one could shadow. Imports nothing."""
    other_entries = [entry for entry in sys.path if Path(entry or os.getcwd()).resolve() != folder]
    spec = PathFinder.find_spec(package, other_entries)
    return spec is not None and spec.origin is None


def _is_there(target: Path, data: bytes) -> bool:
    try:
        return read_file(target, len(data)) == data
    except OSError:
        return False
