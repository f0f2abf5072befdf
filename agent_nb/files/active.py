"""Files that act by themselves once they are beside a notebook, without anybody opening them."""

import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import PathFinder, all_suffixes
from pathlib import Path, PurePosixPath

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
"""Patterns of paths, in small letters, and what such a file does. Hidden files are never saved."""


def acting_files(contents: Mapping[str, str | bytes], root: Path, home: Path) -> dict[str, str]:
    """What the files do by themselves below `root`, by path; `home` is the folder of the notebook.

    Files that are there already, with the same content, are left out.
    """
    found = {path: acts_by_itself(root / path, home) for path in contents}
    return {path: act for path, act in found.items() if act and not _is_there(root / path, contents[path])}


def acts_by_itself(target: Path, home: Path) -> str:
    """What a file at this path does without being opened, such as "runs when Python starts"; empty for most."""
    # Some file systems ignore case, dots at the end, and characters without a glyph.
    names = ["".join(filter(str.isprintable, name)).rstrip(". ").casefold() for name in target.parts]
    path = PurePosixPath(*names)
    if act := next((act for pattern, act in _ACTING.items() if path.match(pattern)), ""):
        return act
    module, folder = _module(Path(*target.parts[:-1], names[-1]))
    if module and folder in _import_folders(home) and _is_installed(module, folder):
        return f"would be imported in place of the module `{module}`"
    return ""


def _module(target: Path) -> tuple[str, Path]:
    """The module that Python would import from a file, and the folder that it would look in; empty if it is none."""
    suffix = next((each for each in sorted(all_suffixes(), key=len)[::-1] if target.name.endswith(each)), "")
    name, folder = target.name.removesuffix(suffix), target.parent
    if name == "__init__":
        name, folder = folder.name, folder.parent
    return (name if suffix and name.isidentifier() else ""), folder.resolve()


def _import_folders(home: Path) -> Iterator[Path]:
    return (Path(entry or os.getcwd()).resolve() for entry in (str(home), *sys.path))


def _is_installed(module: str, folder: Path) -> bool:
    """Whether the module exists elsewhere than in this folder. Nothing is imported."""
    if module in sys.stdlib_module_names:
        return True
    others = [entry for entry in sys.path if Path(entry or os.getcwd()).resolve() != folder]
    try:
        specs = [importlib.util.find_spec(module), PathFinder.find_spec(module, others)]
    except (ImportError, ValueError):  # such as a module without a spec
        return module in sys.modules
    return any(spec and spec.origin and folder not in Path(spec.origin).parents for spec in specs)


def _is_there(target: Path, content: str | bytes) -> bool:
    data = content.encode() if isinstance(content, str) else content
    try:
        return target.read_bytes() == data
    except OSError:
        return False
