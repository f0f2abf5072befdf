"""Questions in text: what is shown, and how an answer is read."""

import pytest

from agent_nb import Agent, tool
from agent_nb._base.text import printable
from agent_nb.core.errors import ToolError
from agent_nb.core.events import ApprovalRequested, ApprovalResolved
from agent_nb.engine.approval import Answer, Consent
from agent_nb.notebook.asking import ask_in_text, confirm, question_text, read_answer
from agent_nb.providers.scripted import ScriptedProvider, call, text


def question(variant: int = 0, **args) -> ApprovalRequested:
    return ApprovalRequested(
        run_id="r", seq=1, at=0.0, variant=variant, call_id="c", name="sh", title="run\nit", args=args
    )


def test_the_question_shows_the_exact_call():
    asked = question(code="a = 1\nb = 2", count=3, tags=["x"])
    assert question_text(asked) == (
        'approval needed for run it (sh)\n    code:\n        a = 1\n        b = 2\n    count: 3\n    tags: ["x"]'
    )
    assert question_text(question(2), several=True).startswith("Variant 3: approval needed")


def test_nothing_in_a_call_can_hide_a_part_of_it():
    key = "sk-ant-api03-" + "k7Q" * 30
    shown = question_text(question(code=f"rm -rf /\x1b[2K\rls \u202eevil {key}"))
    assert shown.endswith(f"rm -rf /<U+001B>[2K<U+000D>ls <U+202E>evil {key}")
    known = Consent(known={key: "`api_key`"}).as_shown(question(code=f"ls {key}"))
    assert question_text(known).endswith(
        "ls •••\n(••• stands for the value of `api_key`. The call runs with it.)"
    )
    assert "\n    env<U+000A>    cwd: /" in question_text(question(**{"env\n    cwd": "/"}))


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("y", Answer(True)),
        (" YES ", Answer(True)),
        ("yes, but only once", Answer(True, "but only once")),
        ("n", Answer(False)),
        ("No: use Python", Answer(False, "use Python")),
        ("", Answer(False)),
        ("yesterday's file", Answer(False, "yesterday's file")),
        ("use Python", Answer(False, "use Python")),
        ("Always", Answer(True, always=True)),
        ("always use Python", Answer(False, "always use Python")),
    ],
)
def test_an_answer_is_yes_no_or_a_note_that_denies(line, answer):
    assert read_answer(line) == answer


async def test_without_input_the_answer_is_no_with_the_remedy(monkeypatch, capsys):
    def closed(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", closed)
    with pytest.raises(ToolError, match="--approve auto"):
        await ask_in_text(question(code="x"))
    assert "code: x" in capsys.readouterr().out


def test_a_question_of_yes_or_no_is_printable_and_its_parts_are_written_out_once(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or "y")
    assert confirm(f"Start {printable(chr(27), keep='')}?\n\x1b[2K")
    assert asked == ["Start <U+001B>?\n<U+001B>[2K [y/N] "]


def test_what_a_yes_allows_is_not_masked(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or "y")
    key = "sk-ant-api03-" + "k7Q" * 30
    assert confirm(f"Run ./{key}?")
    assert asked == [f"Run ./{key}? [y/N] "]


async def test_always_in_a_terminal_covers_equal_calls(monkeypatch):
    lines = iter(["always", "no"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    turns = [call("spend", {"euros": 1}), call("spend", {"euros": 1}), call("spend", {"euros": 2})]

    @tool(approval="ask", identical_only=True)
    def spend(euros: int) -> str:
        """Spends money."""
        return f"{euros} spent"

    handle = Agent(ScriptedProvider([*([turn] for turn in turns), [text("ok")]]), tools=[spend]).start("go")
    handle.approve_with(ask_in_text)
    run = await handle
    assert [use.ok for use in run.tool_uses] == [True, True, False]
    assert [event.by for event in run.events.of(ApprovalResolved)] == ["person", "always", "person"]
