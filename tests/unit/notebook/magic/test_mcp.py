"""`%agent mcp` and `-t mcp:NAME`, with servers that start at once."""

import json
import shlex
import sys

import pytest

from agent_nb._base import program, secrets
from agent_nb.core.events import ToolFinished
from agent_nb.tools.mcp.server_config import ServerConfig, description
from tests.support import ROOT
from tests.support.scripts import of

BAD = str(ROOT / "tests/support/mcp_servers/bad.py")


def command(fault: str) -> str:
    return shlex.join([sys.executable, "-S", BAD, fault])


@pytest.fixture
def weather(shell):
    cell = shell.run(f"%agent mcp add weather {command('none')}")
    assert cell.ok, cell.stderr
    assert cell.stdout == "`weather` is running: work. Offer them to a model with `-t mcp:weather`.\n"
    return shell


def listed(shell) -> str:
    (table,) = shell.run("%agent mcp").displays
    return table["text/plain"]


def test_servers_are_listed_with_their_state_and_tools(weather):
    assert weather.run(f"%agent mcp add odd {command('names')}").ok
    table = listed(weather)
    assert table.splitlines()[0].split() == ["server", "state", "started", "with", "tools"]
    assert "weather  running" in table
    assert "odd: `read file` is called `odd__read_file_" in table
    tools = weather.run("%agent tools").displays[0]["text/plain"]
    assert "weather__work" in tools
    assert "-t mcp:weather/work" in tools


def test_a_cell_uses_a_server_and_replays_without_it(weather):
    line = "%%agent hero -m demo: --pace 0 -t mcp:weather"
    assert weather.run(f"{line} --approve auto --record\nA page about work").ok
    run = weather.names["hero"]
    (finished,) = [event for event in of(run, ToolFinished) if event.summary == "worked"]
    assert weather.run("%agent mcp remove weather").stdout == "Removed `weather`.\n"
    again = weather.run(f"{line} --replay\nA page about work")
    assert again.ok, again.stderr
    assert finished.summary in [event.summary for event in of(weather.names["hero"], ToolFinished)]
    assert weather.names["hero"].settings["replayed"] == "cassettes/hero.run.jsonl"
    other = weather.run(f"{line.replace('weather', 'other')} --replay\nA page about work")
    assert "another tool" in other.stderr


def test_one_tool_can_be_named(weather):
    weather.run("%%agent hero -m demo: --pace 0 -t mcp:weather/work --approve auto\nA page about work")
    assert "weather__work" in weather.names["hero"].settings["tools"]


WRONG = [
    (
        "%%agent hero -m demo: -t mcp:wether\nA page",
        "There is no MCP server 'wether'. Did you mean `weather`?",
    ),
    ("%%agent hero -m demo: -t mcp:weather/wrk\nA page", "has no tool 'wrk'. Did you mean `work`?"),
    ("%agent mcp ad x", "takes add NAME COMMAND..., add NAME URL, restart NAME or remove NAME, not 'ad x'"),
    ("%agent mcp add 'no name' x", "is not a valid name"),
    ("%agent mcp add x no-such-program", "The program 'no-such-program' was not found."),
    ("%agent mcp add x -e", "-e takes NAME or NAME=VALUE."),
    ("%agent mcp add x -e NO_SUCH_VARIABLE y", "The variable NO_SUCH_VARIABLE is not set"),
    ("%agent mcp add x 'y", "The line cannot be read: No closing quotation."),
    ("%agent mcp remove x", "There is no MCP server 'x'."),
]


def test_what_is_wrong_is_said_in_a_sentence(weather):
    for line, sentence in WRONG:
        cell = weather.run(line)
        assert not cell.ok
        assert sentence in cell.stderr
        assert "Traceback" not in cell.stderr


def test_tab_offers_servers_and_their_tools(weather):
    def texts(code):
        return [completion.text for completion in weather.complete(code)]

    assert texts("%%agent hero -t mcp:") == ["mcp:weather", "mcp:weather/work"]
    assert "mcp" in texts("%agent m")


def test_secrets_are_not_shown(shell, monkeypatch):
    monkeypatch.setenv("WEATHER_KEY", "pp-44-qq-55-rr-66")
    shell.run(f"%agent mcp add weather -e WEATHER_KEY -e OTHER=aa-bb-77-cc-88 {command('none')}")
    assert shell.session.servers["weather"].config.expanded().env["WEATHER_KEY"] == "pp-44-qq-55-rr-66"
    shell.run(f"%agent mcp add broken -e WEATHER_KEY {command('none')} pp-44-qq-55-rr-66")
    assert "pp-44" not in listed(shell)


def test_a_changed_tool_asks_again(shell, monkeypatch):
    assert shell.run(f"%agent mcp add sly {command('changes')}").ok
    line = "%%agent hero -m demo: --pace 0 -t mcp:sly --approve auto\nA page about work"
    assert shell.run(line).ok
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    cell = shell.run(line)
    assert "`work` is not offered: the server has changed its description or schema." in cell.stdout
    assert "sends your files elsewhere" in asked[0]
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert shell.run(line).ok
    assert "sly__work" in shell.names["hero"].settings["tools"]


def test_removing_and_unloading_end_the_processes(weather):
    assert program._running
    weather.run("%agent mcp restart weather")
    assert len(program._running) == 1
    weather.run("%unload_ext agent_nb")
    assert not program._running
    weather.run("%load_ext agent_nb")


@pytest.fixture
def project(shell, tmp_path, monkeypatch):
    """A shell in a project with a server that is not allowed yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("WEATHER_KEY", "zz-11-yy-22-xx-33")
    program, *arguments = shlex.split(command("none"))
    entry = {"command": program, "args": arguments, "env": {"KEY": "${WEATHER_KEY}"}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"weather": entry, "bad": {}}}))
    return shell


LINE = "%%agent hero -m demo: --pace 0 -t mcp:weather --approve auto\nA page about work"


def test_a_server_of_the_project_asks_once(project, tmp_path, monkeypatch):
    asked = []
    answers = iter(["no", "y", "no"])
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or next(answers))
    assert "not started; asks first" in listed(project)
    assert '`bad` in .mcp.json: it needs either "command" or "url".' in listed(project)
    assert [each.text for each in project.complete("%%agent hero -t mcp:")] == ["mcp:weather"]
    assert "was not started, because you did not allow it" in project.run(LINE).stderr
    assert not program._running
    assert project.run(LINE).ok
    assert "gets your variables WEATHER_KEY" in asked[1]
    assert project.run(LINE).ok
    assert len(asked) == 2
    assert "zz-11" not in listed(project) + "".join(asked)
    assert "Stopped `weather`. It is defined in .mcp.json" in project.run("%agent mcp remove weather").stdout
    project.run("%reload_ext agent_nb")
    assert project.run(LINE).ok
    path = tmp_path / ".mcp.json"
    path.write_text(path.read_text().replace('"none"', '"slow"'))
    assert not project.run(LINE).ok
    assert len(asked) == 3


def test_nobody_there_means_that_it_is_not_started(project, monkeypatch):
    monkeypatch.setattr(project.session, "is_attended", lambda: False)
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert "is defined in .mcp.json, and unattended notebooks cannot start it" in project.run(LINE).stderr
    assert not program._running


def test_a_change_between_sessions_asks_again(project, tmp_path, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert project.run(LINE).ok
    stored = tmp_path / "config/agent_nb/mcp.json"
    content = json.loads(stored.read_text())
    (entry,) = content["allowed"].values()
    assert list(entry["tools"]) == ["work"]
    entry["tools"]["work"] = "another digest"
    stored.write_text(json.dumps(content))
    project.run("%reload_ext agent_nb")
    monkeypatch.setattr("builtins.input", lambda question: "n")
    cell = project.run(LINE)
    assert "`work` is not offered: the server has changed its description or schema." in cell.stdout


def test_the_question_shows_all_that_is_set(project, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    env = {
        "PYTHONPATH": "./lib\x1b[2K\u202e",
        "TZ": "Europe/Paris",
        "API_TOKEN": "aa-11-bb-22-cc-33",
        "KEY": "${WEATHER_KEY}",
        "UV_INDEX_URL": "https://packages.example/simple",
        "ODD\nAllowed": "yes",
    }
    write(tmp_path, {"weather": {"command": "python", "args": ["-c", "1\n2\r3"], "env": env}})
    assert not project.run(LINE).ok
    assert asked[0].splitlines() == [
        ".mcp.json asks to start the MCP server `weather`:",
        "  python -c '1<U+000A>2<U+000D>3'",
        "  gets your variables WEATHER_KEY",
        "  sets TZ=Europe/Paris",
        "  sets API_TOKEN=aa-11-bb-22-cc-33",
        "  sets KEY=${WEATHER_KEY}",
        "  sets ODD<U+000A>Allowed=yes",
        "  sets PYTHONPATH=./lib<U+001B>[2K<U+202E>  <- this changes what runs",
        "  sets UV_INDEX_URL=https://packages.example/simple  <- this changes what runs",
        "It can do on this machine what you can. Allow it from now on? [y/N] ",
    ]
    headers = {"Authorization": "Bearer aa-11-bb-22", "X-Team": "blue"}
    write(tmp_path, {"weather": {"type": "http", "url": "https://x.example/mcp", "headers": headers}})
    assert not project.run(LINE).ok
    assert "\n  sends Authorization: Bearer aa-11-bb-22\n  sends X-Team: blue\n" in asked[1]


KEY = "sk-ant-api03-" + "k7Q" * 30


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (
            {"args": ["-c", 'eval "$SERVICE_TOKEN"'], "env": {"SERVICE_TOKEN": "curl x.example"}},
            "curl x.example",
        ),
        ({"args": ["-c", "$0", KEY]}, KEY),
        ({"args": ["-c", f". ./{KEY}"]}, f". ./{KEY}"),
        ({"args": ["-c", 'eval "$A"'], "env": {"A": "${API_TOKEN:-curl x.example}"}}, "curl x.example"),
        (
            {"args": ["-c", 'eval "$API_KEY"'], "env": {"API_KEY": "curl ${WEATHER_KEY}"}},
            "curl ${WEATHER_KEY}",
        ),
    ],
)
def test_nothing_that_the_file_says_is_masked_at_the_question(project, tmp_path, monkeypatch, entry, code):
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    secrets.register(code, "")  # as the first start of such a server does
    write(tmp_path, {"weather": {"command": "bash", **entry}})
    assert not project.run(LINE).ok
    assert code in asked[0]
    assert "•••" not in asked[0]


@pytest.mark.parametrize("change", [{"env": {"PYTHONPATH": "lib"}}, {"args": ["-S", BAD, "slow"]}, {"x": 1}])
def test_any_change_of_what_was_allowed_asks_again(project, tmp_path, monkeypatch, change):
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert project.run(LINE).ok
    monkeypatch.setattr("builtins.input", lambda question: "n")
    entry = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["weather"]
    write(tmp_path, {"weather": entry | change})
    assert "you did not allow it" in project.run(LINE).stderr


def test_a_name_that_cannot_be_seen_whole_is_refused(project, tmp_path):
    write(tmp_path, {"a\n\x1b[2Kb": {"command": "x"}})
    table = listed(project)
    assert "`a<U+000A><U+001B>[2Kb` in .mcp.json: its name contains invisible characters." in table
    assert "\x1b" not in table


@pytest.mark.parametrize(
    "name",
    [
        *(
            "PATH",
            "Path",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "LD_PRELOAD",
            "DYLD_INSERT_LIBRARIES",
            "NODE_OPTIONS",
        ),
        *("PIP_INDEX_URL", "UV_INDEX_URL", "NPM_CONFIG_REGISTRY", "BASH_ENV", "ENV", "PERL5LIB", "PERL5OPT"),
        *("RUBYOPT", "GIT_SSH_COMMAND", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "https_proxy", "SSL_CERT_FILE"),
    ],
)
def test_variables_that_change_what_runs_are_marked(name):
    config = ServerConfig(name="x", command=("x",), env={name: "y"})
    assert description(config).endswith(f"sets {name}=y  <- this changes what runs")


def write(tmp_path, servers) -> None:
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
