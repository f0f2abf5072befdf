"""The seam: what a declaration gives, for a built-in feature and for one of a plugin."""

import ast
from dataclasses import replace

import pytest

from agent_nb import Agent
from agent_nb.core.errors import ConfigError
from agent_nb.core.feature import RECORDS_GIVEN, ClassRule, Default, Feature
from agent_nb.core.option import count, flag
from agent_nb.core.options import OPTIONS
from agent_nb.core.run_settings import SETTINGS
from agent_nb.core.setting import Setting
from agent_nb.engine.description import Description
from agent_nb.engine.feature_code import CellCode, RecordsGiven, RunPart
from agent_nb.providers.scripted import ScriptedProvider, text
from tests.support.plugins import plugin_of
from tests.support.scripts import run_script
from tests.unit.test_layers import PACKAGE

SEAM = ("agent_nb.plugins", "agent_nb.plugins.engine")
DEMO = "%%agent hero -m demo: --pace 0"
QUORUM = Feature(
    "quorum",
    option=flag(
        "--quorum N", "How many must give the same answer.", number=count(3), label="{} agree".format
    ),
    default=Default(None, "How many must give the same answer."),
    keyword=True,
    setting=Setting(
        sent="nowhere",
        matched="no",
        accepted_by={},
        stricter=None,
        header="{} must agree".format,
        kind=int | None,
    ),
    rule=ClassRule(
        "a whole number of at least 1",
        accepts=lambda least: type(least) is int and least >= 1,
        refuses=lambda least, value: (
            f"This lab asks for {least} that agree, not {value}." if value < least else ""
        ),
    ),
    code=RECORDS_GIVEN,
)


def test_code_of_a_feature_imports_the_seam_alone():
    """A declaration imports `core/feature.py`; code imports the seam, `_base`, its folder and other declarations."""
    folders = (PACKAGE / "features").glob("*/__init__.py")
    declarations = {f"agent_nb.features.{path.parent.name}" for path in folders}
    for path in (PACKAGE / "features").glob("*/*.py"):
        place, tree = path.relative_to(PACKAGE), ast.parse(path.read_text(encoding="utf-8"))
        own = f"agent_nb.features.{place.parts[1]}"
        allowed = {"agent_nb.core.feature"} if path.name == "__init__.py" else {*SEAM, *declarations}
        for name in imported(tree):
            assert name in allowed or name.startswith(("agent_nb._base.", own)), f"{place} imports {name}"


def test_built_in_features_use_all_that_is_theirs_alone():
    engine = ast.parse((PACKAGE / "plugins" / "engine.py").read_text(encoding="utf-8"))
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (PACKAGE / "features").glob("*/*.py")]
    used = {name for tree in trees for name in names_from(tree, "agent_nb.plugins.engine")}
    assert names_from(engine, "agent_nb") == used
    assert used


def test_an_option_its_default_keyword_setting_and_rule_follow_from_one_declaration(quorum, shell):
    assert "--quorum N" in shell.run("%agent help").stdout
    assert shell.options("--quorum 3").value("quorum") == 3
    assert "--quorum takes a whole number" in str(shell.run(f"{DEMO} --quorum 0\nA form").error)
    done = shell.run(f"{DEMO} --quorum 3\nA form")
    assert done.ok, done.stderr
    assert shell.names["hero"].settings["quorum"] == 3
    assert "3 must agree" in shell.names["hero"].to_html()
    shell.run("%config AgentMagics.quorum = 2")
    shell.run(f"{DEMO}\nA form")
    assert shell.names["hero"].settings["quorum"] == 2
    (shell.session.home / "lab.toml").write_text("[lab]\nquorum = 5\n")
    assert str(shell.run(f"{DEMO}\nA form").error) == (
        "This lab asks for 5 that agree, not 2. (`quorum` in lab.toml)"
    )
    (shell.session.home / "lab.toml").write_text('[lab]\nquorum = "many"\n')
    assert "`quorum` must be a whole number" in str(shell.run(f"{DEMO}\nA form").error)


async def test_a_keyword_is_checked_and_recorded(quorum):
    run = await run_script([text("Hi.")], quorum=4)
    assert run.settings["quorum"] == 4
    with pytest.raises(ConfigError, match="`quorum` must be a whole number"):
        Agent("demo:", quorum="many")
    with pytest.raises(TypeError, match="unexpected keyword argument 'quorumm'"):
        Agent("demo:", quorumm=4)


def imported(tree):
    """The modules of the package that it imports when it is executed."""
    checked = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    froms = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node not in checked)
    return {node.module for node in froms if node.module.startswith("agent_nb")}


def names_from(tree, package):
    """What it imports from modules whose names begin so."""
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.name for node in froms if node.module.startswith(package) for name in node.names}


class Shouting(RunPart):
    def __init__(self, times):
        self.times, self.events = times, 0

    def outgoing(self, request):
        return replace(request, system=request.system + "!" * self.times)

    def event(self, event):
        self.events += 1


class ShoutCode(RecordsGiven):
    def part(self, run):
        if times := run.prepared.get(self.feature):
            parts.append(Shouting(times))
            return parts[-1]
        return None


parts = []
SHOUT = Feature(
    "shout",
    option=flag("--shout N", "How loud.", number=count(3)),
    default=Default(None, "How loud."),
    keyword=True,
    setting=Setting(sent="system", matched="no", accepted_by={}, stricter=min, kind=int | None),
    code=f"{__name__}:ShoutCode",
)


@pytest.fixture
def loud():
    with plugin_of(SHOUT):
        yield


@pytest.fixture
def quorum():
    with plugin_of(QUORUM):
        yield


async def test_a_plugins_feature_is_one_like_any_other(loud, shell):
    with ScriptedProvider([[text("Hi.")]]) as provider:
        run = await Agent(provider, shout=3).run("go")
        assert provider.requests[0].system.endswith("!!!")
    assert run.settings["shout"] == 3
    assert parts[-1].events == len(run.events)
    assert shell.options("--shout 2").value("shout") == 2
    assert "feature shout" in repr(shell.run("%agent plugins").displays)


def test_a_run_that_sends_no_values_takes_no_feature_of_a_plugin(loud):
    with pytest.raises(ConfigError, match="The feature `shout` of a plugin may add values"):
        Agent(ScriptedProvider([])).with_data("schema").prepare("go")


class Weather(CellCode):
    async def prompt(self, cell):
        town = await cell.describe("town")
        return Description(f"It rains on {town.text}.")


def test_a_plugins_part_of_a_prompt_follows_those_of_the_package(shell):
    shell.run("town = 'Lyon'")
    with plugin_of(Feature("weather", cell=f"{__name__}:Weather")):
        sent = shell.run(f"{DEMO} --cells 1 --dry-run\nA form").stdout
        assert sent.index("A form") < sent.index("Cell 1:") < sent.index("It rains on Lyon.")
        refused = str(shell.run(f"{DEMO} --data schema\nA form").error)
    assert refused.startswith("The feature `weather` of a plugin may add values")


def test_a_removed_feature_leaves_nothing(shell):
    assert not {"shout"} & {*OPTIONS, *SETTINGS}
    assert "There is no option --shout" in str(shell.run(f"{DEMO} --shout 2\nA form").error)
