"""The engine names no tool or vendor, imports are light, files and functions small, constants first, type names unique.

`make check` reads the direction of imports (`tool.importlinter` in pyproject.toml).
"""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from agent_nb.notebook.kernel_tools import kernel_tools
from agent_nb.providers.vendors import VENDORS
from agent_nb.tools import Toolbox
from docs.scripts import matrix
from tests.support import ROOT

PACKAGE = ROOT / "agent_nb"
UNIT = ROOT / "tests" / "unit"
NAMED = re.compile(r"(agent_nb(?:\.[a-z_][a-z0-9_]*)+)(?:[.:]([A-Z]\w*))?")


def tools_and_vendors_in(source: str) -> set[str]:
    """The tools and vendors that code names: in a string, or as a constant such as `READ_FILE`."""
    names = {tool.name for tool in (*Toolbox.default(), *kernel_tools(object()))} | {*VENDORS}
    nodes = list(ast.walk(ast.parse(source)))
    strings = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    constants = {node.id.lower() for node in nodes if isinstance(node, ast.Name)}
    return (strings | constants) & names


def test_the_engine_names_no_tool_and_no_vendor():
    for module in (PACKAGE / "engine").glob("*.py"):
        assert not tools_and_vendors_in(module.read_text(encoding="utf-8")), module.name


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("tool.name == 'run_python'", {"run_python"}),
        ("READ_FILE.name in toolbox", {"read_file"}),
        ("vendor == 'gemini'", {"gemini"}),
        ("any(tool.reads for tool in toolbox)", set()),
    ],
)
def test_a_named_tool_or_vendor_is_found(source, found):
    assert tools_and_vendors_in(source) == found


def rooms(folder: Path) -> set[str]:
    """Folders below `folder` that hold Python files, apart from an `__init__.py`; all features are one."""
    files = [path for path in folder.rglob("*.py") if path.name != "__init__.py"]
    places = {path.parent.relative_to(folder).as_posix() for path in files}
    return {"features" if place.startswith("features/") else place for place in places}


def test_the_unit_tests_mirror_the_package():
    assert rooms(UNIT) == rooms(PACKAGE) | {"golden", "prompts"}


def taken(tree: ast.Module) -> set[str]:
    """What a module imports from tests and scripts, as `module.name`."""
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    names = {f"{node.module}.{name.name}" for node in froms for name in node.names}
    return {name for name in names if name.startswith(("tests.", "docs.scripts."))}


def offered(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Import() | ast.ImportFrom():
                names |= {each.asname or each.name for each in node.names}
            case ast.Assign() | ast.AnnAssign():
                names |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names


def test_what_benches_and_wide_tests_import_exists():
    """They do not run every day, so that nothing else would notice."""
    wanted: dict[str, str] = {}
    there: set[str] = set()
    for path in [*(ROOT / "tests").rglob("*.py"), *(ROOT / "docs" / "scripts").rglob("*.py")]:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        wanted |= dict.fromkeys(taken(tree), module)
        there |= {module, *(f"{module}.{name}" for name in offered(tree))}
    assert not {name: module for name, module in wanted.items() if name not in there}


def test_the_tests_of_the_matrix_exist():
    assert [path for path in (*matrix.TESTS, *matrix.OLDER_TESTS) if not (ROOT / path).exists()] == []


def test_importing_the_package_is_light():
    script = (
        "import sys, agent_nb; "
        "print([m for m in ('openai', 'anthropic', 'google.genai', 'httpx2', 'pydantic', 'IPython', 'anywidget',"
        " 'PIL', 'genai_prices', 'fastjsonschema', 'marimo') if m in sys.modules],"
        " 'agent_nb.core.events' in sys.modules); "
        "agent_nb.mcp_server; print({'mcp', 'mcp_types'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[] False", "set()"]


def test_the_public_names_are_all_there():
    import agent_nb

    for name in agent_nb.__all__:
        assert getattr(agent_nb, name) is not None
    assert sorted(agent_nb.__all__) == agent_nb.__all__


@pytest.mark.parametrize("folder", ["agent_nb", "tests", "js/src"])
def test_files_stay_under_600_lines(folder):
    long = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".ts"}
        and (lines := len(path.read_text(encoding="utf-8").splitlines())) > 600
    }
    assert not long


@pytest.fixture(scope="module")
def package() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def test_functions_stay_under_50_lines(package):
    long = {}
    for path, tree in package.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0].lineno if node.decorator_list else node.lineno
                lines = (node.end_lineno or 0) - first + 1
                if lines > 50:
                    long[f"{path.name}:{node.name}"] = lines
    assert not long


def types_in(tree: ast.Module) -> list[str]:
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for node in tree.body:  # aliases, such as `Pair = tuple[int, int]`
        if isinstance(node, ast.Assign) and not ast.unparse(node.value).startswith(("TypeVar", "ParamSpec")):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [name for name in names if name.strip("_")[:1].isupper() and not name.isupper()]


def test_a_type_name_means_one_thing_in_the_whole_package(package):
    modules = defaultdict(list)
    for path, tree in package.items():
        for name in types_in(tree):
            modules[name].append(str(path.relative_to(PACKAGE)))
    assert len(modules) > 300
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}


def late_constants(tree: ast.Module) -> list[str]:
    """Constants after the first function or class, except those made of functions and classes of the module."""
    own: set[str] = set()
    late: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif own and isinstance(node, ast.Assign | ast.AnnAssign):
            names = [name for name in ast.walk(node) if isinstance(name, ast.Name)]
            if own.isdisjoint(name.id for name in names):
                late.append(ast.unparse(node))
            else:
                own |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return late


def test_constants_stand_above_types_and_functions(package):
    assert late_constants(ast.parse("def f(): ...\nA = 1\nB = [f]\nC = B + [A]")) == ["A = 1"]
    late = {str(path.relative_to(PACKAGE)): late_constants(tree) for path, tree in package.items()}
    assert {path: constants for path, constants in late.items() if constants} == {}


def test_every_module_and_class_that_is_named_in_a_string_exists(package):
    """Type checkers do not look into `"agent_nb.demo:DemoProvider"`."""
    for path, tree in package.items():
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if (match := NAMED.fullmatch(text)) and find_spec(match[1]):
                assert match[2] is None or hasattr(import_module(match[1]), match[2]), (path.name, text)
            elif match:
                assert match[2] is None, (path.name, text)
