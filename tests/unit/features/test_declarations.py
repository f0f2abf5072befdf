"""What follows from the declaration of each feature, and what loading the extension imports of it."""

import ast
import importlib
import subprocess
import sys
from collections import Counter

import pytest

from agent_nb.core.feature import features, imported
from agent_nb.core.keywords import Keywords
from agent_nb.core.options import OPTIONS
from agent_nb.engine.feature_code import CellCode, FeatureCode, RunPart
from agent_nb.engine.parts import feature_tools

LOAD = """
import sys
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config({"AgentMagics": %r}))
shell.extension_manager.load_extension("agent_nb")
print([name for name in sys.modules if name.startswith("agent_nb.")])
magics = shell.magics_manager.registry["AgentMagics"]
%s
"""
ONE_USER = {
    "run": "starts the tries of a request, one after the other",
    "close": "ends the branch, after `finish` has named its session",
    "closing": "asks for the answer in place of a summary",
    "completed": "adds printed lines to the answer before it is priced",
    "event": "for plugins that follow a run",
    "in_order": "for plugins whose calls depend on each other",
    "runs_last": "runs the call with the answer in the last turn",
    "started": "a run is saved while it goes, so saving begins with it",
    "written": "writes calls as text after masking",
}
"""The hooks that fewer than two built-in features use, and why they are there."""
FEATURES = pytest.mark.parametrize("feature", features(), ids=lambda feature: feature.name)


def loaded(code="", config=()):
    """The imported modules after loading the extension, and what the code prints then. Warnings are errors."""
    command = [sys.executable, "-W", "error::UserWarning", "-c", LOAD % (dict(config), code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    modules, _, printed = done.stdout.partition("\n")
    return {*ast.literal_eval(modules)}, printed


def test_loading_imports_no_feature():
    modules, _ = loaded()
    assert not {"agent_nb.features", "agent_nb.core.options", "agent_nb.plugins"} & modules


@pytest.mark.parametrize(
    "code",
    [
        "shell.run_line_magic('config', 'AgentMagics')",
        "with provisionalcompleter(): print([*shell.Completer.completions('%config AgentMagics.agents_', 27)])",
        "shell.run_line_magic('config', 'AgentMagics.agents_md = \"off\"'); print(magics.agents_md, 'agents_md')",
        "print(shell.run_line_magic('config', 'AgentMagics.agents_md'), 'agents_md')",
    ],
)
def test_config_has_the_defaults_of_features_once_the_extension_is_loaded(code):
    assert "agents_md" in loaded(code)[1]


def test_a_configuration_file_sets_the_default_of_a_feature():
    assert loaded("print(magics.agents_md)", {"agents_md": "off"})[1] == "off\n"


@FEATURES
def test_its_option_is_in_help_and_completion(feature, shell):
    if option := feature.option:
        assert OPTIONS[feature.name] is option
        text = shell.run("%agent help").stdout
        offered = {each.text for each in shell.complete("%%agent hero -")}
        for flag in option.flags:
            assert f" {flag}" in text
            assert flag in offered


@FEATURES
def test_its_default_is_a_trait_with_its_help(feature, shell):
    if default := feature.default:
        assert default.help in " ".join(shell.run("%config AgentMagics").stdout.split())
        assert getattr(shell.magics, feature.name) == default.value


@FEATURES
def test_its_code_is_there_and_records_its_setting(feature):
    assert feature.setting is None or feature.code or feature.cell
    assert feature.setting is None or feature.setting.kind is not None
    for place in filter(None, (feature.code, feature.cell)):
        module, _, name = place.partition(":")
        getattr(importlib.import_module(module), name)(feature)


def test_its_tools_are_offered_by_its_name(shell):
    tools = feature_tools()
    assert [*tools] == ["ask_user"]
    for name, members in tools.items():
        shell.run(f"%%agent hero -m demo: --pace 0 -t {name}\nA form")
        assert {tool.name for tool in members} <= {*shell.names["hero"].settings["tools"]}


def test_each_keyword_is_known_to_type_checkers():
    assert Keywords.__annotations__.keys() == {each.name for each in features() if each.keyword}


def test_a_hook_has_two_users_or_its_reason():
    kinds = (FeatureCode, RunPart, CellCode)
    hooks = {name for kind in kinds for name in vars(kind) if name[0] != "_"}
    codes = {imported(place) for each in features() for place in (each.code, each.cell) if place}
    modules = [vars(sys.modules[code.__module__]).values() for code in codes]
    classes = {each for module in modules for each in module if isinstance(each, type)} - {*kinds}
    users = Counter(name for each in classes if issubclass(each, kinds) for name in vars(each))
    assert {hook for hook in hooks if users[hook] < 2} == ONE_USER.keys()


def test_order():
    """Code first reads its answer in the branch, and computes a typed answer itself."""
    names = [feature.name for feature in features()]
    assert names.index("branch") < names.index("code_first") < names.index("answer")
    assert names.index("no_raise") < names.index("check")
