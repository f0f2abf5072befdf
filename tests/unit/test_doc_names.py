"""Paths and names in backticks in the README, CONTRIBUTING and docs/ exist."""

import re
from pathlib import Path

import pytest

import agent_nb
from agent_nb import Agent, Files, Run, Toolbox, ToolContext
from agent_nb.notebook.command_line import make_parser
from agent_nb.notebook.magic.commands import COMMANDS
from agent_nb.notebook.parsing import parser
from agent_nb.plugins import COMMANDS as PLUGIN_COMMANDS
from agent_nb.plugins import plugins
from tests.support import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/how-to/*.md")])
PAGES += sorted([*ROOT.glob("docs/internals/*.md"), *ROOT.glob("docs/site/*.md")])
SOURCES = (
    "agent_nb",
    "benchmarks",
    "binder",
    "docs",
    "js/dev",
    "js/lab",
    "js/src",
    "js/test",
    "notebooks",
    "tests",
)
OWNERS = {"agent": Agent, "run": Run, "hero": Run, "best": Run, "trio": Run, "files": Files}
OWNERS |= {"Agent": Agent, "Toolbox": Toolbox, "context": ToolContext}

# Files that a user has, or that a program makes.
USERS = {
    "lab.toml",
    "ruff.toml",
    "nbgrader_config.py",
    "AGENTS.md",
    "index.html",
    "hero.html",
    "hero.txt",
    "agent_nb.py",
}
USERS |= {"/", ".agent_nb/", ".agent_nb/runs/", "__marimo__/", "__marimo__/agent_nb/"}
USERS |= {"build/site", "test-results/"}
# Names of other programs and of examples.
OTHERS = {
    "JUPYTERHUB_ROOT_DIR",
    "OLLAMA_ORIGINS",
    "DB_PASSWORD",
    "clock__time_in",
    "--no-memory-reducer",
    "--to",
    "forecast",
}

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*/|(?:[\w.-]+/)*[\w-]+\.(?:py|ts|js|md|toml|html|txt|ipynb)")
_NAME = re.compile(r"[A-Z_]\w+|[a-z]\w*_\w+")
_MEMBER = re.compile(r"(\w+)\.([a-z]\w*)\b(?!\.jsonl)")
_COMMAND = re.compile(r"%agent ([a-z]+)")
_OPTION = re.compile(r"--[a-z-]+")
_IMPORT = re.compile(r'(?m)^[\s"]*(from agent_nb\S* import [\w, ]+|import agent_nb\S*)')
_IN_MODULE = re.compile(r"`([A-Za-z_.]+)`(?: \([^)]*\))?,? (?:in|of) `([\w/-]+\.(?:py|ts|js))`")
_PUBLIC_MODULES = {"import agent_nb", "import agent_nb.marimo", "import agent_nb.tracing"}
_EXAMPLES = [
    *PAGES,
    *ROOT.glob("notebooks/*.ipynb"),
    *ROOT.glob("notebooks/*.py"),
    *ROOT.glob("docs/examples/*/*.py"),
]


def spans(page: Path) -> set[str]:
    return set(_SPAN.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module")
def paths() -> set[str]:
    """Every path of the repository and every end of one: `agent_nb/run/run.py`, `run/run.py`, `run.py`, `run/`."""
    ends = {f"{path.name}/" if path.is_dir() else path.name for path in ROOT.iterdir()}
    for top in SOURCES:
        for path in [ROOT / top, *(ROOT / top).rglob("*")]:
            parts = path.relative_to(ROOT).parts
            suffix = "/" if path.is_dir() else ""
            ends |= {"/".join(parts[start:]) + suffix for start in range(len(parts))}
    return ends


@pytest.fixture(scope="module")
def words() -> set[str]:
    files = [
        path for top in SOURCES for path in (ROOT / top).rglob("*.*") if path.suffix in {".py", ".ts", ".js"}
    ]
    return {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_and_name_exists(page, paths, words):
    shown = spans(page)
    wrong = {span for span in shown if _PATH.fullmatch(span)} - paths - USERS
    wrong |= {span for span in shown if _NAME.fullmatch(span)} - words - OTHERS
    for owner, name in (match.groups() for span in shown if (match := _MEMBER.match(span))):
        if owner in OWNERS and f"{owner}.{name}" not in paths | USERS:
            kind = OWNERS[owner]
            if not hasattr(kind, name) and name not in getattr(kind, "__dataclass_fields__", {}):
                wrong.add(f"{owner}.{name}")
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_option_exists(page):
    plugins()
    shown = spans(page)
    commands = {match[1] for span in shown if (match := _COMMAND.match(span))}
    assert commands - OTHERS <= {*COMMANDS, *PLUGIN_COMMANDS}
    options = {option for span in shown if span.startswith("%%agent") for option in _OPTION.findall(span)}
    options |= {match[0] for span in shown if (match := _OPTION.match(span))}
    usages = " ".join(command.usage for command in (*COMMANDS.values(), *PLUGIN_COMMANDS.values()))
    command_line = next(action.choices for action in make_parser()._actions if action.choices)
    usages += " ".join(command.format_usage() for command in command_line.values())
    assert options - OTHERS <= {*parser()._option_string_actions, *_OPTION.findall(usages)}


@pytest.mark.parametrize("page", _EXAMPLES, ids=lambda page: page.name)
def test_users_import_from_the_package_alone(page: Path):
    for line in _IMPORT.findall(page.read_text(encoding="utf-8")):
        statement = line.partition("\\n")[0].partition(" as ")[0].strip('"')
        package, _, names = statement.removeprefix("from ").partition(" import ")
        public = package == "agent_nb" and {name.strip() for name in names.split(",")} <= {
            *agent_nb.__all__,
            "plugins",
        }
        assert public or statement in _PUBLIC_MODULES, line


def test_a_recipe_names_what_its_module_defines():
    recipes = (
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Recipes")[2].replace("\n", " ")
    )
    files = [path for top in SOURCES for path in (ROOT / top).rglob("*.*") if path.suffix in {".py", ".ts"}]
    named = _IN_MODULE.findall(recipes)
    assert len(named) > 20
    for name, module in named:
        last = re.escape(name.rpartition(".")[2])
        definition = re.compile(
            rf"(?m)(?:\b(?:def|class|const|function|interface|type) {last}\b|^{last}\b[^=\n]*=)"
        )
        modules = [path for path in files if f"/{path.as_posix()}".endswith(f"/{module}")]
        assert any(definition.search(path.read_text(encoding="utf-8")) for path in modules), (name, module)
