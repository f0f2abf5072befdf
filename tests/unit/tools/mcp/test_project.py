"""`.mcp.json`, and what the user has allowed."""

import json

import pytest

from agent_nb.tools.mcp.server import MAX_STORED, Server, listed_tools
from agent_nb.tools.mcp.server_config import (
    CONSENTS,
    FILE,
    ServerConfig,
    accepted_tools,
    is_allowed,
    read_project,
    remember,
)


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def write(**servers):
        (tmp_path / FILE).write_text(json.dumps({"mcpServers": servers}))
        return read_project(tmp_path)

    return write


def test_servers_are_read_in_both_forms(write, tmp_path):
    configs, problems = write(
        files={
            "command": "npx",
            "args": ["-y", "server-files", "${HOME}"],
            "env": {"KEY": "${FILES_KEY:-none}"},
        },
        web={"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${T}"}},
    )
    assert problems == []
    assert configs["files"].command == ("npx", "-y", "server-files", "${HOME}")
    assert configs["files"].folder == tmp_path
    assert configs["files"].expanded().env == {"KEY": "none"}
    assert configs["web"].url == "https://x.example/mcp"


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ([], "it is a list, not an object."),
        ({}, 'it needs either "command" or "url".'),
        ({"command": "x", "url": "https://x.example"}, 'it needs either "command" or "url".'),
        ({"command": "x", "args": "y"}, "`args` is 'y', not a list."),
        ({"command": 5}, "`command` is 5, not text."),
        ({"command": "x", "env": {"A": 1}}, "`env['A']` is 1, not text."),
        (
            {"type": "sse", "url": "https://x.example"},
            "`type` is 'sse', not one of stdio, http, streamable-http.",
        ),
    ],
)
def test_a_wrong_entry_leaves_the_others(write, entry, sentence):
    configs, (problem,) = write(wrong=entry, right={"command": "x"})
    assert list(configs) == ["right"]
    assert problem.startswith(f"`wrong` in {FILE}: ")
    assert sentence in problem


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{\n oops", "is not valid JSON: Expecting property name enclosed in double quotes in line 2."),
        ("[]", 'has no object "mcpServers".'),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path, text, sentence):
    (tmp_path / FILE).write_text(text)
    configs, (problem,) = read_project(tmp_path)
    assert configs == {}
    assert sentence in problem


def test_what_is_allowed_is_the_entry_in_its_folder(write, tmp_path):
    config = write(one={"command": "x"})[0]["one"]
    assert not is_allowed(config)
    remember(config, {"work": "digest"})
    again = write(one={"command": "x"}, two={"command": "y"})[0]
    assert is_allowed(again["one"])
    assert accepted_tools(again["one"]) == {"work": "digest"}
    assert not is_allowed(again["two"])
    assert not is_allowed(write(one={"command": "x", "args": ["--more"]})[0]["one"])
    other = tmp_path / "other"
    other.mkdir()
    (other / FILE).write_text(json.dumps({"mcpServers": {"one": {"command": "x"}}}))
    assert not is_allowed(read_project(other)[0]["one"])


@pytest.mark.parametrize("damage", ["", "{", "[]", "[" * 100_000, '{"allowed": []}', '{"allowed": {"a": 1}}'])
def test_a_damaged_store_asks_again(write, damage):
    config = write(one={"command": "x"})[0]["one"]
    remember(config, {})
    CONSENTS.path.write_text(damage)
    assert not is_allowed(config)
    remember(config, {})
    assert is_allowed(config)


def test_the_question_about_a_changed_tool_shows_all_that_has_changed():
    def listed(**changed):
        schema = {"type": "object", "properties": {"path": {"type": "string", **changed}}}
        entry = {"name": "work", "title": "Work", "description": "Works.", "inputSchema": schema}
        return listed_tools("sly", [{**entry, **changed}])[0]

    server = Server(ServerConfig(name="sly", command=("x",)))
    server.accepted = {"work": listed().digest}
    change = server.change_of(listed(title="Sends your keys\n\u202e"))
    assert '- "title": "Work"' in change
    assert '+ "title": "Sends your keys\\n\u202e"' in change
    assert '+    "default": "/etc/passwd"' in server.change_of(listed(default="/etc/passwd"))
    server.accepted = {"work": listed(x="long" * MAX_STORED).digest}
    assert len(server.accepted["work"]) == 64
    assert "+{\n" in server.change_of(listed()), "the whole entry, because the former one is not stored"
