"""Finds circles of imports in the package, also by names in strings, and counts its imports; `make check` runs it.

In a circle, a module depends on what it imports anywhere, and on modules that it names: `"agent_nb.demo:DemoProvider"`.
Imports for type checkers count. An arrow is a pair of files of which one imports the other, also in a function. Imports
for type checkers and names in strings are no arrows.
"""

import ast
from collections import Counter
from collections.abc import Container, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SKIPPED = ("FORMAT", "_BUILT_IN", "RECORDS_GIVEN")
"""Constants that name a file format, or what a feature has above the module of declarations."""
CODE_OF_FEATURES = ("code", "cell", "tools", "commands")
"""Arguments with which a declaration names its code, which imports the declaration."""
LIMITS = {
    "arrows a file": 7.0,
    "arrows a file without those to the 15 most imported": 4.0,
    "files that import more than 15 others": 35,
    "floors": 32,
}
"""The highest that `figures` may return. The package has as many floors as its longest chain of arrows has files."""


def circle(package: Path) -> list[str]:
    """The modules of a circle, or the folders of one, each imported by the next; empty if there is none."""
    trees = _trees(package)
    graph = {name: {*_named(tree, frozenset(trees))} - {name} for name, tree in trees.items()}
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


def arrows(package: Path) -> dict[str, set[str]]:
    """The files that each file imports; the package's own `__init__.py` is left out."""
    trees, root = _trees(package), package.name
    files = {name: {_file(path, trees) for path in _imported(tree)} for name, tree in trees.items()}
    return {name: others - {name, root, ""} for name, others in files.items()} | {root: set()}


def figures(graph: dict[str, set[str]]) -> dict[str, float]:
    """The figures that `LIMITS` limits, averages to one decimal place, of arrows without a circle."""
    imported = Counter(other for others in graph.values() for other in others)
    most = sum(count for _, count in imported.most_common(15))
    heights: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():
        heights[name] = 1 + max((heights[other] for other in graph[name]), default=0)
    averages = [round(count / len(graph), 1) for count in (imported.total(), imported.total() - most)]
    many = sum(len(others) > 15 for others in graph.values())
    return dict(zip(LIMITS, [*averages, many, max(heights.values())], strict=True))


def exceeded(values: dict[str, float]) -> list[str]:
    above = {name: value - LIMITS[name] for name, value in values.items() if value > LIMITS[name]}
    return [
        f"{values[name]} {name}: {more:g} above the limit of {LIMITS[name]}" for name, more in above.items()
    ]


def _trees(package: Path) -> dict[str, ast.Module]:
    paths = package.rglob("*.py")
    return {_module(path, package.parent): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def _imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.If(test=test) if "TYPE_CHECKING" in ast.unparse(test):
            return
        case ast.keyword(arg=name) if name in CODE_OF_FEATURES:
            return
        case ast.Import(names=names):
            yield from (each.name for each in names)
        case ast.ImportFrom(module=str(module), names=names):
            yield from (f"{module}.{each.name}" for each in names)
    for child in ast.iter_child_nodes(node):
        yield from _imported(child)


def _file(path: str, modules: Container[str]) -> str:
    """The module of a path such as `agent_nb.core.errors.AgentError`; empty for one of another package."""
    while path and path not in modules:
        path = path.rpartition(".")[0]
    return path


def _folder(name: str) -> str:
    return ".".join(name.split(".")[:2])


def _module(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _named(node: ast.AST, modules: frozenset[str]) -> Iterator[str]:
    """Those of the modules that this part of a file imports or names."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) if name in SKIPPED:
            return
        case ast.keyword(arg=name) if name in CODE_OF_FEATURES:
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
    graph = arrows(ROOT / "agent_nb")
    values = figures(graph)
    top = sorted(graph, key=lambda name: (-len(graph[name]), name))[:5]
    print(f"{len(graph)} files, {sum(map(len, graph.values()))} arrows")
    print(*(f"{value} {name} (at most {LIMITS[name]})" for name, value in values.items()), sep="\n")
    print("import most:", ", ".join(f"{name} {len(graph[name])}" for name in top))
    if found := exceeded(values):
        raise SystemExit("\n".join(found))
