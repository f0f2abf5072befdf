"""`%%agent` in terminal IPython, through a real pseudo-terminal."""

import asyncio
import os
import sys

import pexpect
import pytest

from agent_nb import Agent, tool
from agent_nb.core.events import TextDelta
from agent_nb.notebook.views.views import TerminalView
from agent_nb.providers.scripted import ScriptedProvider, call, pause, text
from tests.support.kernels import quiet_environment
from tests.support.waiting import PATIENCE

PROMPT = r"In \[\d+\]: "


@pytest.fixture(scope="module")
def terminal(tmp_path_factory):
    home = tmp_path_factory.mktemp("terminal")
    environment = {**quiet_environment(home), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    child = pexpect.spawn(
        sys.executable,
        ["-m", "IPython", "--no-banner", "--simple-prompt", "--colors=NoColor", "--no-confirm-exit"],
        cwd=str(home),
        env=environment,
        encoding="utf-8",
        timeout=PATIENCE,
        dimensions=(40, 120),
    )
    child.expect(PROMPT)
    yield child
    child.sendline("exit()")
    child.expect(pexpect.EOF)
    child.close()


def enter(terminal, *lines: str) -> str:
    """Types lines and gives everything up to the next prompt."""
    for line in lines:
        terminal.sendline(line)
    terminal.expect(PROMPT)
    return str(terminal.before)


def ask(terminal, options: str, prompt: str, *, until: str = PROMPT) -> str:
    terminal.sendline(f"%%agent {options}")
    terminal.expect(r"\.\.\.: ")
    terminal.sendline(prompt)
    for _ in range(2):  # the simple prompt ends a cell magic after two empty lines
        terminal.expect(r"\.\.\.: ")
        terminal.sendline("")
    terminal.expect(until)
    return str(terminal.before)


def test_a_run_streams_text_and_tool_lines(terminal):
    enter(terminal, "%load_ext agent_nb")
    shown = ask(terminal, "hero --pace 0", "A landing page for a bakery in Lyon")
    assert "No API key found" in shown
    assert "\x1b[32m✓\x1b[0m create index.html" in shown
    assert "hero.open() shows the page in your browser." in shown
    assert "hero: writing index.html" in shown
    assert "done in" in shown
    assert "index.html" in enter(terminal, "list(hero.files)")


def test_a_table_fits_the_terminal(terminal):
    table = enter(terminal, "%agent models")
    assert max(map(len, table.splitlines())) <= 120
    assert "gemini:gemini-4-argon" in table.split()
    assert "depends" in table.split()


def test_ctrl_c_stops_a_run(terminal):
    ask(terminal, "slow --pace 1", "A form", until="slow: ")
    os.kill(terminal.pid, 2)
    terminal.expect("contains the results so far")
    terminal.expect(PROMPT)
    assert "interrupted" in enter(terminal, "slow.reason")


def test_run_python_works_in_the_terminal(terminal):
    enter(terminal, "from agent_nb import Agent, kernel_tools")
    enter(terminal, "from agent_nb.providers.scripted import ScriptedProvider, call, text")
    code = "number = 6 * 7\\nprint('printed', number)"
    enter(terminal, f'turns = [[call("run_python", {{"code": "{code}"}})], [text("ok")]]')
    enter(terminal, "agent = Agent(ScriptedProvider(turns), tools=kernel_tools(), approve='auto')")
    shown = enter(terminal, "run = await agent.run('go')")
    assert "printed" not in shown.partition("agent.run('go')")[2]
    assert "printed 42\\n\\nSet number." in enter(terminal, "run.tool_uses[0].result.text")
    assert "42" in enter(terminal, "number").partition("number")[2]


def test_a_tool_asks_in_the_terminal(terminal):
    enter(terminal, "from agent_nb import tool")
    enter(terminal, r"""exec("def shout(word: str) -> str:\n    'Shouts.'\n    return word.upper()")""")
    enter(terminal, "shout = tool(approval='ask')(shout)")
    question = r"approval needed for shout \(shout\)\s+word: .*Approve\?"
    for answer, result in (("yes", "ok"), ("no, be quiet", "denied")):
        ask(terminal, "loud -m demo: --pace 0 -t shout", "A form", until=question)
        terminal.sendline(answer)
        terminal.expect(PROMPT)
        assert "be quiet" in terminal.before or result == "ok"
        shown = enter(
            terminal, "[(use.ok, use.result.code) for use in loud.tool_uses if use.call.name == 'shout']"
        )
        assert ("[(True, None)]" if result == "ok" else "[(False, 'DENIED')]") in shown
    ask(terminal, "loud -m demo: --pace 0 -t shout", "A form", until=question)
    terminal.sendintr()
    terminal.expect("contains the results so far")
    terminal.expect(PROMPT)
    assert "interrupted" in enter(terminal, "loud.reason")


@tool(approval="ask")
def shout(word: str) -> str:
    """Shouts."""
    return word.upper()


async def test_a_denied_call_is_not_shown_as_failed(capsys):
    turns = [[call("shout", {"word": "a"})], [text("Then not.")]]
    printed = await shown(capsys, *turns, tools=[shout], approve="deny")
    assert "⊘ shout" in printed
    assert "denied: This tool is switched off" in printed
    assert "✗" not in printed


def test_many_prompts_take_one_line(terminal):
    enter(terminal, "from agent_nb import Agent, model")
    enter(terminal, "agent = Agent(model('demo:', pace=0))")
    shown = enter(terminal, "runs = await agent.map(['A form', 'A game'])")
    assert "2/2 [" in shown
    assert "tokens in" not in shown
    assert "2 runs, $0.00 together." in enter(terminal, "runs")


KEY = "sk-ant-api03-" + "x9-Y" * 8
HOSTILE = "\x1b]0;pwned\x07\x1b[2J\rover\x9b1m"


async def shown(capsys, *turns, **settings) -> str:
    """What the view writes. Standard output is not a terminal here, so the view adds no control characters."""
    handle = Agent(ScriptedProvider(list(turns)), **settings).start("go")
    view = TerminalView(handle)
    view.start("")
    view.finish(await handle, "files", [])
    return str(capsys.readouterr().out)


@pytest.mark.parametrize("fragment", [1, 3, 1000])
async def test_control_characters_of_a_model_are_removed(capsys, fragment):
    @tool
    def look(where: str) -> str:
        """Looks."""
        return f"seen {KEY} {HOSTILE}"

    printed = await shown(
        capsys,
        [text(f"Look:\t{HOSTILE}", fragment=fragment), call("look", {"where": HOSTILE})],
        [text(f"{HOSTILE} Yours is {KEY}.\nBye {KEY}", fragment=fragment)],
        tools=[look],
    )
    assert not [sign for sign in printed if not sign.isprintable() and sign not in "\n\t"]
    assert "Look:\t]0;pwned[2Jover1m\n✓ look" in printed
    assert "x9-Y" not in printed
    assert printed.replace("sk•••", "•••").count("•••") == 3
    assert "\nBye" in printed


async def test_text_is_written_as_it_arrives(capsys):
    moment = asyncio.Event()
    handle = Agent(ScriptedProvider([[text("Risks and desk"), pause(moment)], [text(".")]])).start("go")
    view = TerminalView(handle)
    view.start("")
    async for event in handle:
        if isinstance(event, TextDelta):
            assert "Risks and desk" in capsys.readouterr().out
            handle.stop()
    await handle
