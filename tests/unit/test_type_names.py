"""A type name means one thing in the whole package."""

import ast
from collections import defaultdict

from tests.support import ROOT

PACKAGE = ROOT / "agent_nb"


def _types(tree: ast.Module) -> list[str]:
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for node in tree.body:  # aliases, such as `Pair = tuple[int, int]`
        if isinstance(node, ast.Assign) and not ast.unparse(node.value).startswith(("TypeVar", "ParamSpec")):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [name for name in names if name.strip("_")[:1].isupper() and not name.isupper()]


def test_no_type_name_is_defined_twice():
    modules = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in _types(ast.parse(path.read_text(encoding="utf-8"))):
            modules[name].append(str(path.relative_to(PACKAGE)))
    assert len(modules) > 300
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}
