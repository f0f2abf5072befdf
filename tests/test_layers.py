"""The house: imports point one way, heavy packages stay out of the door, files stay small, all is tested."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "agent_nb"

FLOORS = [
    {"errors", "quick", "wire", "scrub", "log", "prompts", "paths", "table", "kept", "versions"},
    {"messages"},
    {"events"},
    {"phase", "diffs"},
    {"files", "fetch", "pictures", "studio"},
    {"tools", "providers", "render"},
    {"imaging"},
    {"run", "manifest", "requests", "comparison", "ledger"},
    {"bridge", "vocabulary", "engine"},
    {"cassette"},
    {"agent", "many"},
    {"notebook"},
]
"""From the ground up. A room may use its own floor and those below; tools and providers do not know each other."""

TESTED_IN = {
    "__init__": "test_layers",
    "cassette": "test_cassette",
    "engine/__init__": "test_layers",
    "engine/handle": "test_engine",
    "engine/running": "test_engine",
    "imaging": "test_image_backends",
    "many/__init__": "test_layers",
    "many/jobs": "test_many",
    "many/runs": "test_many",
    "notebook/__init__": "test_layers",
    "notebook/widget": "test_hub",
    "providers/__init__": "test_provider_names",
    "providers/anthropic": "test_provider_anthropic",
    "providers/base": "test_provider_contract",
    "providers/chat": "test_provider_chat",
    "providers/demo": "test_demo",
    "providers/failure": "test_provider_errors",
    "providers/gemini": "test_provider_gemini",
    "providers/gemini_generate": "test_provider_gemini",
    "providers/gemini_images": "test_image_backends",
    "providers/images": "test_image_backends",
    "providers/openai": "test_provider_openai",
    "providers/openai_images": "test_image_backends",
    "providers/settings": "test_provider_names",
    "providers/streaming": "test_provider_faults",
    "providers/strict": "test_provider_openai",
    "providers/vendors": "test_provider_names",
    "render": "test_render",
    "studio/__init__": "test_image_backends",
    "studio/base": "test_image_backends",
    "tools/annotations": "test_tools",
    "tools/base": "test_toolbox",
    "tools/calls": "test_toolbox",
    "tools/docstrings": "test_tools",
    "tools/files": "test_file_tools",
    "tools/function": "test_tools",
    "tools/image_batch": "test_image_tools",
    "tools/images": "test_image_tools",
    "tools/nearest": "test_file_tools",
    "tools/variants": "test_variant_tools",
}
"""The file about a module, or a whole folder, that has none of its own name."""


def rooms() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in PACKAGE.rglob("*.py"):
        if path != PACKAGE / "__init__.py":
            found.setdefault(path.relative_to(PACKAGE).parts[0].removesuffix(".py"), []).append(path)
    return found


def imported_rooms(path: Path) -> set[str]:
    used = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        used |= {name.split(".")[1] for name in names if name.startswith("agent_nb.")}
    return used & set(rooms())


def floor_of(room: str) -> int:
    return next(index for index, floor in enumerate(FLOORS) if room in floor)


def test_every_room_has_its_floor():
    assert set(rooms()) <= set().union(*FLOORS)


@pytest.mark.parametrize("room", sorted(rooms()))
def test_imports_point_down(room):
    for path in rooms()[room]:
        for used in imported_rooms(path) - {room}:
            # run and manifest hand a value to each other; the import inside a function is lazy.
            assert floor_of(used) <= floor_of(room), f"{path.name} uses {used}"


def test_tools_and_providers_do_not_know_each_other():
    for one, other in (("tools", "providers"), ("providers", "tools")):
        for path in rooms()[one]:
            assert other not in imported_rooms(path), path


def test_only_the_notebook_room_knows_the_notebook():
    for room, paths in rooms().items():
        if room == "notebook":
            continue
        for path in paths:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                module = node.module if isinstance(node, ast.ImportFrom) else None
                names = (
                    [module or ""]
                    if module
                    else [a.name for a in node.names]
                    if isinstance(node, ast.Import)
                    else []
                )
                assert not {"IPython", "ipywidgets", "anywidget"} & {name.split(".")[0] for name in names}, (
                    path
                )


def test_the_engine_names_no_tool_and_no_vendor():
    from agent_nb.providers import catalog
    from agent_nb.tools import Toolbox

    names = {tool.name for tool in Toolbox.default()} | {row.vendor for row in catalog()}
    for module in ("engine/running.py", "engine/calls.py", "engine/setup.py", "agent.py"):
        for node in ast.walk(ast.parse((PACKAGE / module).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in names, (module, node.value)


def modules() -> list[str]:
    return sorted(path.relative_to(PACKAGE).with_suffix("").as_posix() for path in PACKAGE.rglob("*.py"))


def own_name(module: str) -> str:
    return module.removesuffix("/__init__").rpartition("/")[2]


def file_about(module: str, among: list[str]) -> str:
    """The test file about a module. Where several share a name, the file of that name is about the topmost."""
    parts = module.split("/")
    for end in range(len(parts), 0, -1):
        if "/".join(parts[:end]) in TESTED_IN:
            return TESTED_IN["/".join(parts[:end])]
    namesakes = [other for other in among if own_name(other) == own_name(module)]
    topmost = min(namesakes, key=lambda other: (other.count("/"), other != module))
    return f"test_{own_name(module)}" if topmost == module else ""


def untested(among: list[str]) -> list[str]:
    written = {path.stem for path in (ROOT / "tests").glob("test_*.py")}
    return [module for module in among if file_about(module, among) not in written]


def test_every_module_has_its_tests():
    assert untested(modules()) == []


@pytest.mark.parametrize("module", ["brand_new", "notebook/brand_new", "tools/brand_new", "notebook/wire"])
def test_a_module_without_tests_is_seen(module):
    assert module in untested([*modules(), module])


def test_the_map_of_tests_holds_nothing_stale():
    here = modules()
    folders = {module.rpartition("/")[0] for module in here}
    assert [name for name in TESTED_IN if name not in here and name not in folders] == []
    assert [name for name in TESTED_IN if name in here and TESTED_IN[name] == f"test_{own_name(name)}"] == []


def test_importing_the_package_is_light():
    script = (
        "import sys, agent_nb; "
        "print([m for m in ('openai', 'anthropic', 'google.genai', 'httpx2', 'pydantic', 'IPython', 'anywidget',"
        " 'PIL', 'genai_prices', 'fastjsonschema') if m in sys.modules], 'agent_nb.events' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"


def test_the_public_names_are_all_there():
    import agent_nb

    for name in agent_nb.__all__:
        assert getattr(agent_nb, name) is not None
    assert sorted(agent_nb.__all__) == agent_nb.__all__


@pytest.mark.parametrize("folder", ["agent_nb", "tests", "js/src"])
def test_files_stay_under_400_lines(folder):
    long = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".ts"}
        and (lines := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert not long


def test_functions_stay_under_50_lines():
    long = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0].lineno if node.decorator_list else node.lineno
                lines = (node.end_lineno or 0) - first + 1
                if lines > 50:
                    long[f"{path.name}:{node.name}"] = lines
    assert not long
