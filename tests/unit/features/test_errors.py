"""An error in each hook of a feature: who learns of it, and what is kept of the run."""

import inspect

import pytest

from agent_nb import Agent, Limits
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.core.option import flag
from agent_nb.engine import parts
from agent_nb.engine.feature_code import CellCode, FeatureCode, RunPart
from agent_nb.features.agree.run import Agrees
from agent_nb.plugins import Feature
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render.shown import shown_features
from tests.support.plugins import plugin_of

KEY = "sk-proj-" + "k3Vw9" * 6
FAILED = "The feature `frail` failed: ZeroDivisionError: division by zero"
PAGE = call("create_file", {"path": "index.html", "content": "<p>Hi</p>"})


class Code(FeatureCode):
    def part(self, run):
        return Part()


class Part(RunPart):
    closed = 0

    def event(self, event):
        pass

    def close(self):
        Part.closed += 1


class InCell(CellCode):
    pass


FRAIL = Feature(
    "frail",
    option=flag("--frail", "Fail.", default=False),
    keyword=True,
    code=f"{__name__}:Code",
    cell=f"{__name__}:InCell",
)


def hooks(kind) -> list[str]:
    return [
        name for name, value in vars(kind).items() if inspect.isfunction(value) and not name.startswith("_")
    ]


def broken(monkeypatch, kind, hook):
    def fail(*args):
        return 1 / 0

    async def fail_later(*args):
        return 1 / 0

    is_async = inspect.iscoroutinefunction(getattr(kind, hook))
    monkeypatch.setattr(kind, hook, fail_later if is_async else fail, raising=False)


@pytest.fixture
def frail(monkeypatch):
    monkeypatch.setattr(Part, "closed", 0)
    with plugin_of(FRAIL):
        yield


def provider(hook):
    """A model that writes a page, and whose run comes to the hook."""
    last_turn = hook in ("closing", "runs_last")
    return ScriptedProvider([[PAGE], [PAGE] if hook == "runs_last" else [text("Done.")], [text("Done.")]]), (
        2 if last_turn else 5
    )


@pytest.mark.parametrize("hook", [name for name in hooks(RunPart) if name not in ("close", "written")])
async def test_of_a_part_ends_the_run_with_its_name_and_keeps_the_files(frail, monkeypatch, hook):
    broken(monkeypatch, Part, hook)
    model, steps = provider(hook)
    run = await Agent(model, limits=Limits(steps=steps), approve="auto").run("go")
    assert (run.reason, run.error) == ("failed", FAILED)
    assert run.files.get("index.html", "") == ("" if hook in BEFORE_FILES else "<p>Hi</p>")
    assert Part.closed == 1


BEFORE_FILES = ("begin", "outgoing", "event")
"""Hooks that are called before the first file is written."""


async def test_of_the_written_form_ends_the_run_too(frail, monkeypatch):
    """Of a built-in feature, because others are not asked for it."""
    monkeypatch.setattr(parts, "is_built_in", lambda name: True)
    broken(monkeypatch, Part, "written")
    run = await Agent(ScriptedProvider([[text("Hi.")]])).run("go")
    assert (run.reason, run.error) == ("failed", FAILED)


async def test_of_close_changes_nothing(frail, monkeypatch, caplog):
    broken(monkeypatch, Part, "close")
    run = await Agent(ScriptedProvider([[text("Hi.")]])).run("go")
    assert run.reason == "end_turn"
    assert "the feature frail could not be closed" in caplog.text


async def test_of_making_the_part_ends_the_run_and_closes_the_parts_before_it(frail, monkeypatch):
    broken(monkeypatch, Code, "part")
    run = await Agent(ScriptedProvider([[text("Hi.")]])).run("go", files={"a.txt": "kept"})
    assert (run.reason, run.error) == ("failed", FAILED)
    assert run.files["a.txt"] == "kept"


async def test_a_value_that_is_no_json_fails_the_run(frail, monkeypatch):
    monkeypatch.setattr(Part, "finish", lambda part, end: end.values.update(frail={1, 2}))
    run = await Agent(ScriptedProvider([[text("Hi.")]])).run("go")
    assert run.reason == "failed"
    assert run.error == "The feature `frail` failed: TypeError: Object of type set is not JSON serializable"
    assert run.values == {}


async def test_a_stopped_run_stays_stopped(frail, monkeypatch):
    broken(monkeypatch, Part, "finish")
    handle = Agent(ScriptedProvider([[text("Hi.")]])).start("go")
    handle.stop()
    assert (await handle).reason == "stopped"
    assert Part.closed <= 1


@pytest.mark.parametrize("hook", ["read", "prepare", "run"])
async def test_before_the_run_is_an_error_of_the_package(frail, monkeypatch, hook):
    broken(monkeypatch, Code, hook)
    with pytest.raises(AgentError) as refused:
        await Agent(ScriptedProvider([[text("Hi.")]]), frail=True).run("go")
    assert str(refused.value) == FAILED


@pytest.mark.parametrize("hook", hooks(CellCode))
def test_of_a_cell_fails_the_cell_with_its_name_and_sets_the_variable(frail, monkeypatch, shell, hook):
    broken(monkeypatch, InCell, hook)
    done = shell.run("%%agent hero -m demo: --pace 0\nA form")
    assert FAILED in str(done.error)
    assert ("hero" in shell.names) == (hook not in ("prompt", "planned"))


@pytest.mark.parametrize("kind", [ValueError, ConfigError])
@pytest.mark.parametrize("hook", hooks(CellCode))
def test_of_a_cell_shows_no_secret(frail, monkeypatch, shell, hook, kind):
    def fail(*args):
        raise kind(f"no access with {KEY}")

    monkeypatch.setenv("SERVICE_KEY", KEY)
    monkeypatch.setattr(InCell, hook, fail)
    done = shell.run("%%agent hero -m demo: --pace 0\nA form")
    assert "no access with •••" in str(done.error)
    assert KEY not in str(done.error)


@pytest.mark.parametrize("hook", ["shown", "addition"])
async def test_of_showing_a_run_leaves_out_the_feature_and_is_logged(frail, monkeypatch, caplog, hook):
    run = await Agent(ScriptedProvider([[text("Hi.")]])).run("go")
    broken(monkeypatch, Code, hook)
    assert "Hi." in run.to_html()
    assert "frail" not in shown_features(run)
    assert "the feature frail failed to show a run" in caplog.text


async def test_of_a_value_reaches_who_asks_for_it(monkeypatch):
    run = await Agent(ScriptedProvider([[text("Hi.")]])).run("go")
    broken(monkeypatch, Agrees, "value")
    with pytest.raises(ZeroDivisionError):
        _ = run.agreement
    assert "Hi." in run.to_html()


def test_each_hook_is_tried():
    assert {*hooks(FeatureCode)} == {"read", "prepare", "run", "part", "value", "shown", "addition"}
