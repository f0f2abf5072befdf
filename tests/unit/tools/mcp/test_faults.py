"""Servers that misbehave: the call fails with a sentence, and the next call starts the server again, once."""

import logging
from dataclasses import replace

import pytest

from agent_nb._base import program
from agent_nb.core.errors import AgentError, ToolError
from agent_nb.providers.tool_schemas import OPENAI, convert_schema
from agent_nb.tools.mcp import connection
from agent_nb.tools.mcp.server import Server, on_thread
from agent_nb.tools.mcp.server_config import server_config
from tests.support.mcp_servers.bad_http import faulty_http
from tests.support.mcp_servers.good import IS_2
from tests.support.processes import ended
from tests.unit.tools.mcp.conftest import call, faulty, until


@pytest.fixture
async def started():
    """Starts servers, which end with the test."""
    servers = []

    async def start(server: Server) -> Server:
        await server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        await server.stop()


async def test_a_server_that_dies_is_started_again_once(tmp_path, started):
    server = await started(faulty("dies-once", tmp_path / "died"))
    first = await call(server)
    assert isinstance(first, ToolError)
    assert first.message == "The MCP server `bad` has ended during the call. It ended with code 7."
    assert (await call(server)).text == "worked"
    assert server.state == "running"


async def test_a_server_that_dies_again_is_left_so_until_a_person_starts_it(started):
    server = await started(faulty("dies"))
    messages = [(await call(server)).message for _ in range(3)]
    assert messages[0] == messages[1]
    assert "ended during the call. It ended with code 1: out of memory" in messages[0]
    assert "has ended, also after it was started again" in messages[2]
    assert server.state == "ended"
    await server.start()
    assert server.state == "running"


async def test_a_server_that_hangs_is_started_again(tmp_path, started):
    server = await started(faulty("hangs-once", tmp_path / "hung", timeout=0.3))
    hung = await call(server)
    server.config = replace(server.config, timeout=20.0)
    assert (hung.code, hung.message) == ("TIMEOUT", "The MCP server `bad` did not answer within 0.3 seconds.")
    assert (await call(server)).text == "worked"


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("dies-at-start", "could not be started. It ended with code 1: TOKEN is not set"),
        ("silent", "could not be started. It did not answer within 0.4 seconds."),
        ("no-list", "could not be started. It sent something that is not valid MCP: tools: Input should be"),
    ],
)
async def test_a_server_that_does_not_start_says_why(fault, sentence, alive):
    server = faulty(fault, start_timeout=0.4 if fault == "silent" else 20.0)
    with pytest.raises(AgentError) as caught:
        await server.start()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert server.state == "ended"
    assert not alive()


@pytest.mark.parametrize("fault", ["floods-lines", "floods-notes", "endless-line"])
async def test_a_server_that_floods_is_ended(fault, monkeypatch, alive, started):
    monkeypatch.setattr(program, "MAX_LINE", 500_000)
    monkeypatch.setattr(connection, "MAX_UNASKED", 300)
    server = await started(faulty(fault))
    failed = await call(server)
    assert isinstance(failed, ToolError)
    assert (
        "It sent a message of more than" if fault == "endless-line" else "It sent more than 300"
    ) in failed.message
    assert server.state == "ended"
    assert not alive()


@pytest.mark.parametrize("fault", ["noise", "slow"])
async def test_other_output_on_stdout_and_a_slow_start_do_no_harm(fault, started):
    server = await started(faulty(fault))
    assert (await call(server)).text == "worked"


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("lies", "broke its own output schema: `degrees` must be integer, not a string."),
        ("odd", "It sent something that is not valid MCP"),
    ],
)
async def test_an_answer_that_breaks_its_schema_fails_the_call_alone(fault, sentence, started):
    server = await started(faulty(fault))
    failed = await call(server)
    assert isinstance(failed, ToolError)
    assert sentence in failed.message
    assert "\n" not in failed.message
    assert server.state == "running"


async def test_a_huge_result_is_cut(started):
    server = await started(faulty("huge"))
    output = await call(server)
    assert len(output.text) < 51_000
    assert "characters omitted]" in output.text


async def test_schemas_that_no_vendor_takes_are_replaced(started):
    server = await started(faulty("schemas"))
    schemas = {tool.name: tool.spec.schema for tool in server.listed}
    assert (
        schemas["wrong"]
        == schemas["far"]
        == {"type": "object", "properties": {}, "additionalProperties": True}
    )
    assert convert_schema(schemas["either"], OPENAI).schema["properties"] == {"q": {}}
    assert convert_schema(schemas["letters"], OPENAI).schema["properties"] == {"q": {"type": "string"}}
    assert convert_schema(schemas["union"], OPENAI).schema == {
        "type": "object",
        "properties": {"a": {}},
        "required": [],
    }
    assert [note.split(" ")[0:5] for note in server.notes] == [
        ["The", "schema", "of", "`wrong`", "is"],
        ["The", "schema", "of", "`far`", "is"],
    ]


async def test_one_bad_entry_leaves_the_others(started):
    server = await started(faulty("entries"))
    assert [tool.name for tool in server.listed] == ["untyped", "text", "hints", "output", "work"]
    schemas = {tool.name: tool.spec.schema for tool in server.listed}
    assert schemas["untyped"] == {"type": "object", "properties": {"q": {"type": "string"}}}
    assert server.notes == [
        "Part of the server's description of `text` is invalid and left out.",
        "Part of the server's description of `hints` is invalid and left out.",
        "Part of the server's description of `output` is invalid and left out.",
        "A tool without a name is left out.",
        "A tool without a name is left out.",
    ]
    assert (await call(server)).text == "worked"


async def test_a_server_that_tells_of_no_changes_is_listed_again(tmp_path, started):
    server = await started(faulty("quiet", tmp_path / "changed"))
    assert [tool.name for tool in server.listed] == ["work"]
    assert (await call(server)).text == "worked"
    await until(lambda: [tool.name for tool in server.listed] == ["work", "learned"])
    (tmp_path / "changed").unlink()
    await server.start()  # as the next cell does
    assert [tool.name for tool in server.listed] == ["work"]


async def test_names_that_collide_or_are_too_long_are_mapped(started):
    server = await started(faulty("names"))
    names = [tool.spec.name for tool in server.listed]
    assert names[0] == "bad__read_file"
    assert names[1].startswith("bad__read_file_")
    assert len(names[2]) == 64
    assert names[3] == "bad__work"
    assert len(server.notes) == 4
    assert (await call(server, "read file")).text == "worked"


async def test_a_tool_whose_description_changes_is_not_offered_until_it_is_accepted(started):
    server = await started(faulty("changes"))
    (before,) = server.tools
    assert (await call(server)).text == "worked"
    await until(lambda: server.changed)
    assert server.tools == []
    assert server.notes == ["`work` is not offered: the server has changed its description or schema."]
    refused = await on_thread(_refused(before))
    assert "has changed or removed `work` since this run began" in refused
    server.accept()
    assert "elsewhere" in server.tools[0].spec.description


async def _refused(tool):
    from agent_nb.files import Files, Workspace
    from agent_nb.tools import ToolContext

    with pytest.raises(ToolError) as caught:
        await tool.run({}, ToolContext(files=Workspace(Files()), progress=print))
    return caught.value.message


async def test_a_server_that_does_not_end_is_killed(alive, started):
    server = await started(faulty("stays"))
    (pid,) = alive()
    await server.stop()
    await until(lambda: ended(pid))


async def test_what_a_server_has_started_ends_with_it(tmp_path, started):
    child = tmp_path / "child"
    server = await started(faulty("parent", child))
    pid = int(child.read_text())
    assert not ended(pid)
    await server.stop()
    await until(lambda: ended(pid))


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("drops", "has ended during the call. It cannot be reached"),
        ("refuses", "answered with an error. " if IS_2 else "It cannot be reached: Server error '500"),
        ("huge", "The response is larger than 1 MB."),
        ("hangs", "did not answer within 0.3 seconds."),
    ],
)
async def test_a_faulty_server_over_http_fails_the_call(fault, sentence, monkeypatch, caplog, started):
    monkeypatch.setattr(connection, "MAX_ANSWER", 1_000_000)
    monkeypatch.setenv("HTTP_TOKEN", "hh-12-tt-34-pp-56")
    caplog.set_level(logging.DEBUG)
    with faulty_http(fault) as (url, seen):
        config = server_config(
            (f"{url}?token=${{HTTP_TOKEN}}",), name="bad", headers={"Authorization": "Bearer ${HTTP_TOKEN}"}
        )
        server = await started(Server(replace(config, timeout=0.3 if fault == "hangs" else 20.0)))
        failed = await call(server)
        await server.stop()
    assert isinstance(failed, ToolError)
    assert sentence in failed.message
    assert "\n" not in failed.message
    assert set(seen) == {"Bearer hh-12-tt-34-pp-56"}
    assert "hh-12" not in caplog.text + failed.message + repr(server.config)


async def test_a_server_that_forgot_the_session_is_reached_again(started):
    with faulty_http("forgets") as (url, _):
        server = await started(Server(server_config((url,), name="bad")))
        assert "has ended during the call. It has ended the session." in (await call(server)).message
        assert (await call(server)).text == "worked"
        await server.stop()


async def test_an_error_of_the_server_keeps_it_running(started):
    server = await started(faulty("refuses"))
    before = server._connection
    failed = await call(server)
    assert failed.message == "The MCP server `bad` answered with an error. Rate limit."
    assert (server.state, server._connection) == ("running", before)
