"""Cassettes from somewhere else: whatever is in them, no tool is called that asks or that is not repeatable."""

import asyncio
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_nb import Agent, Tool, replay
from agent_nb.engine.approval_rules import Rules
from agent_nb.engine.fingerprint import tool_digest
from agent_nb.engine.history import files_in
from agent_nb.errors import AgentError, CassetteError
from agent_nb.events import ToolReady
from agent_nb.messages import Message, ToolCall, ToolResult, ToolSpec, assistant
from agent_nb.providers.scripted import call, text
from agent_nb.tools import Toolbox, ToolContext, ToolOutput
from tests.support.cassettes import PROMPT, play, record
from tests.support.scripts import write

CODE = {"code": "import os"}


def own_tool(name: str = "run_code", calls: list[str] | None = None, **fields: Any) -> Tool:
    """A tool that writes a file and notes that it was called."""

    def run(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        if calls is not None:
            calls.append(name)
        context.files.write("out.txt", "made")
        return ToolOutput(text="done")

    spec = ToolSpec(name=name, description="Runs code.", schema={"type": "object"})
    return Tool(spec=spec, run=run, title=lambda args: name, **fields)


KINDS: dict[str, dict[str, Any]] = {
    "not repeatable": {},
    "asks": {"approval": "ask"},
    "repeatable but asks": {"repeatable": True, "approval": "ask"},
    "repeatable but fetches": {"repeatable": True, "fetches": lambda args, context: {}},
    "of a server": {"origin": "mcp:files/run_code", "approval": "ask"},
}


def stripped(path: Path, moment: str, field: str) -> int:
    """Takes a field away from the lines of a moment; returns the number of the first such line."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    found = [number for number, row in enumerate(rows, 1) if row.get("tool") == moment]
    for number in found:
        rows[number - 1].pop(field)
    path.write_text("\n".join(map(json.dumps, rows)))
    return found[0]


@pytest.mark.parametrize(("moment", "field"), [("finished", "text"), ("changed", "path")])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_tool_that_may_not_be_repeated_is_refused_before_anything_plays(
    tmp_path, kind, moment, field
):
    path, calls = tmp_path / "hero.jsonl", list[str]()
    tools = [own_tool(calls=calls, **KINDS[kind])]
    await record(path, [call("run_code", CODE)], [text("ok")], tools=tools, approve="auto")
    line = stripped(path, moment, field)
    calls.clear()
    with pytest.raises(CassetteError) as raised:
        Agent(replay(path), tools=tools, approve="auto").start(PROMPT)
    assert f"{str(path)!r} is damaged at line {line}: a replay does not run `run_code`" in str(raised.value)
    assert not calls


@pytest.mark.parametrize("name", [tool.name for tool in Toolbox.default() if not tool.repeatable])
async def test_built_in_tools_that_are_not_repeatable_are_refused(tmp_path, name):
    path = tmp_path / "hero.jsonl"
    await record(path, [write()], [text("ok")])
    path.write_text(path.read_text().replace("create_file", name))
    with pytest.raises(CassetteError):
        await play(path, tools=Toolbox(Toolbox.default()))


async def test_a_call_cannot_pass_for_another_by_its_id(tmp_path):
    """The second call of an id is `same#2` in events, and no name can be found by that id alone."""
    path, calls = tmp_path / "hero.jsonl", list[str]()
    tools = [*Toolbox.default(), own_tool(calls=calls, approval="ask")]
    turn = [call("run_code", CODE, id="same"), write(id="same"), write("b.html", id="same#2")]
    await record(path, turn, [text("ok")], tools=tools, approve="auto")
    stripped_text = path.read_text().replace('"name": "create_file"', '"name": "run_code"')
    calls.clear()
    path.write_text(stripped_text)
    with pytest.raises(CassetteError, match="does not run `run_code`"):
        await play(path, tools=tools, approve="auto")
    assert not calls


async def test_a_tool_that_is_to_ask_now_is_not_repeated(tmp_path):
    path = tmp_path / "hero.jsonl"
    await record(path, [write()], [text("ok")])
    with pytest.raises(CassetteError, match="recorded with `create_file` not asking first"):
        await play(path, approve={"create_file": "ask"})
    assert (await play(path, approve={"create_file": "auto"})).html


async def test_a_tool_that_asked_is_recorded_with_its_result(tmp_path):
    path = tmp_path / "hero.jsonl"
    approve = {"create_file": lambda call, args: True}
    await record(path, [write()], [text("ok")], approve=approve)
    assert (await play(path, approve=approve)).html == (await play(path)).html


@pytest.mark.parametrize("kind", KINDS)
async def test_files_of_a_conversation_are_made_by_no_other_tool(kind):
    calls = list[str]()
    toolbox = Toolbox([own_tool(calls=calls, writes=lambda args: ("out.txt",), **KINDS[kind])])
    messages = [
        assistant(ToolCall("a", "run_code", json.dumps(CODE))),
        Message(role="tool", parts=(ToolResult(call_id="a", name="run_code", text="done"),)),
    ]
    assert not await files_in(messages, toolbox, Rules())
    assert not calls


async def test_the_schema_of_a_recorded_server_is_not_made_into_code(tmp_path):
    """Compiled, this one would refuse the arguments, and the card would have none."""
    path = tmp_path / "hero.jsonl"
    tool = own_tool(origin="mcp:files/run_code")
    await record(path, [call("run_code", CODE)], [text("ok")], tools=[tool])
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    schema = rows[1]["yours"]["servers"]["run_code"]["schema"] = {"type": "object", "required": ["b"]}
    rows[1]["yours"]["tools"]["run_code"] = tool_digest(replace(tool, spec=replace(tool.spec, schema=schema)))
    path.write_text("\n".join(map(json.dumps, rows)))
    run = await play(path, tools=[tool])
    assert [event.args for event in run.events.of(ToolReady)] == [CODE]


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(
        ["run_code", "create_file", "same", "same#2", "finished", "changed", "end_turn", "../x"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
BASE: list[dict[str, Any]] = []


def base_rows() -> list[dict[str, Any]]:
    """The lines of a cassette that has calls of every kind of tool."""
    if not BASE:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "base.jsonl"
            turn = [
                call("run_code", CODE, id="same"),
                write(id="same"),
                call("asks", CODE),
                call("server", {}),
            ]
            asyncio.run(record(path, turn, [write("b.html"), text("x")], [text("ok")], **every_kind([])))
            BASE.extend(json.loads(line) for line in path.read_text().splitlines())
    return json.loads(json.dumps(BASE))


def every_kind(calls: list[str]) -> dict[str, Any]:
    own = [
        own_tool("run_code", calls),
        own_tool("asks", calls, approval="ask", repeatable=True),
        own_tool("server", calls, origin="mcp:files/server"),
    ]
    return {"tools": [*Toolbox.default(), *own], "approve": "auto"}


@st.composite
def cassettes(draw: st.DrawFn) -> str:
    """A cassette with some lines changed, dropped, doubled or replaced by any JSON."""
    rows: list[Any] = base_rows()
    for _ in range(draw(st.integers(1, 4))):
        tools = [place for place, row in enumerate(rows) if isinstance(row, dict) and "tool" in row]
        place = draw(st.integers(1, len(rows) - 1) | st.sampled_from(tools or [1]))
        row = rows[place]
        match draw(st.sampled_from(["drop key", "set key", "drop", "double", "swap", "any"])):
            case "drop key" if isinstance(row, dict) and row:
                row.pop(draw(st.sampled_from(sorted(row, key=["text", "path"].__contains__, reverse=True))))
            case "set key" if isinstance(row, dict) and row:
                row[draw(st.sampled_from(sorted(row)))] = draw(values)
            case "drop" if len(rows) > 2:
                rows.pop(place)
            case "double":
                rows.insert(place, json.loads(json.dumps(row)))
            case "swap":
                rows[place - 1], rows[place] = rows[place], rows[place - 1]
            case _:
                rows[place] = draw(values)
    return "\n".join(map(json.dumps, rows))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(cassettes())
def test_any_json_as_a_cassette_calls_no_tool_that_asks(tape):
    calls = list[str]()

    async def scenario(path: Path) -> None:
        path.write_text(tape)
        try:
            run = await play(path, **every_kind(calls))
        except AgentError:
            return
        assert not (run.error or "").startswith(("TypeError", "ValueError", "KeyError", "IndexError"))
        assert all((run.to_html(), run.to_markdown(), run._repr_mimebundle_()))

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder) / "tape.jsonl"))
    assert not calls
