"""Finds circles of imports in the package, also those by names in strings; `make check` runs it.

A module depends on what it imports anywhere, and on modules that it names: `import_module("agent_nb.run")`,
`"agent_nb.demo:DemoProvider"`. Imports for type checkers count.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
FORMATS = ("FORMAT",)
"""Constants that name a file format and not a module."""


def circle(package: Path) -> list[str]:
    """The modules of a circle, or the folders of one, each imported by the next; empty if there is none."""
    files = {_module(path, package.parent): path for path in package.rglob("*.py")}
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in files.items()}
    graph = {name: {*_named(tree, frozenset(files))} - {name} for name, tree in trees.items()}
    folders: dict[str, set[str]] = {}
    for name, others in graph.items():
        folders.setdefault(_folder(name), set()).update(
            {_folder(other) for other in others} - {_folder(name)}
        )
    for each in (graph, folders):
        try:
            TopologicalSorter(each).prepare()
        except CycleError as error:
            return list(error.args[1])
    return []


def _folder(name: str) -> str:
    return ".".join(name.split(".")[:2])


def _module(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _named(node: ast.AST, modules: frozenset[str]) -> Iterator[str]:
    """Those of the modules that this part of a file imports or names."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) if name in FORMATS:
            return
        case ast.Import(names=names):
            yield from {each.name for each in names} & modules
        case ast.ImportFrom(module=str(module), names=names):
            found = {f"{module}.{each.name}" for each in names} & modules
            yield from found if len(found) == len(names) else {module, *found} & modules
        case ast.Constant(value=str(text)) if "." in text:
            yield from {text.partition(":")[0]} & modules
    for child in ast.iter_child_nodes(node):
        yield from _named(child, modules)


if __name__ == "__main__":
    if found := circle(ROOT / "agent_nb"):
        raise SystemExit("A circle of imports: " + " <- ".join(found))
