"""`%%agent` and the kernel's event loop: interrupts, outer magics, background runs, unloading."""

import ipykernel
import pytest

from tests.support.kernels import PATIENCE, Cell
from tests.support.live_page import Page
from tests.support.waiting import wait_for
from tests.support.wire import Call, Hold, Say, reply

MODEL = "-m openai:gpt-6.1-sol"


def has_sent(cell: Cell, kind: str) -> bool:
    """Whether the page has got an event of that type."""
    messages = [comm["data"]["content"] for comm in cell.comms if comm["data"].get("method") == "custom"]
    return any(event["type"] == kind for message in messages for event in message.get("events", ()))


@pytest.mark.skipif(ipykernel.version_info < (7, 0), reason="subshells came with ipykernel 7")
def test_stop_works_from_a_subshell(kernel, server):
    """JupyterLab sends widget messages to one: another thread, another loop. It is the first test here: the page
    hears only of a comm that is opened after it."""
    page, client = Page(kernel), kernel.client
    client.control_channel.send(client.session.msg("create_subshell_request"))
    page.subshell = client.get_control_msg(timeout=PATIENCE)["content"]["subshell_id"]
    server.plan(reply(Call("create_file", '{"path": "index.html", "content": "<h1>Bre'), Hold()))
    cell = page.start(f"%%agent stopped {MODEL}\nA page")
    page.pump(lambda: page.of("file_delta"))
    assert page.command("stop")["ok"]
    page.finish(cell)
    assert kernel.value("(stopped.reason, stopped.html)") == "('stopped', '<h1>Bre')"


PHASES = {
    "before-headers": ([Hold()], "turn_started"),
    "arguments": ([Call("create_file", '{"path": "index.html", "content": "<h1>Bre'), Hold()], "file_delta"),
}


@pytest.mark.parametrize(("steps", "kind"), PHASES.values(), ids=PHASES)
def test_an_interrupt_ends_a_stalled_stream(kernel, server, steps, kind):
    server.plan(reply(*steps))
    asked = len(server.requests)
    cell = kernel.start(f"%%agent hero {MODEL}\nA page", stdin=True)
    wait_for(lambda: len(server.requests) > asked)
    kernel.until(cell, lambda cell: has_sent(cell, kind))
    kernel.interrupt()
    ended = kernel.finish(cell)
    assert ended.status == "error"
    assert ended.error["ename"] == "RunStopped"
    assert ended.error["traceback"] == ["RunStopped: `hero` contains the results so far."]
    assert kernel.value("(hero.reason, hero.events[-1].type)") == "('interrupted', 'run_finished')"
    wait_for(lambda: server.requests[-1].closed)


def test_an_interrupt_ends_a_plain_cell_that_awaits_a_run(kernel, server):
    server.plan(reply(Say("Well"), Hold()))
    cell = kernel.start(
        "from agent_nb import Agent\nhandle = Agent('openai:gpt-6.1-sol').start('A page')\n"
        "handle.subscribe(lambda event: print(event.type))\nawait handle"
    )
    kernel.until(cell, lambda cell: "text_delta" in cell.stdout)
    kernel.interrupt()
    assert kernel.finish(cell).error["ename"] in ("KeyboardInterrupt", "CancelledError")
    kernel.run("handle.stop()\nawait handle")


def test_an_interrupt_ends_a_running_tool(kernel, server):
    kernel.run(
        "import asyncio\nfrom agent_nb import tool\n@tool(timeout=None)\nasync def wait() -> str:\n"
        "    'Waits.'\n    print('waiting', flush=True)\n    await asyncio.Event().wait()"
    )
    server.plan(reply(Call("wait", {})))
    cell = kernel.start(f"%%agent hero {MODEL} -t wait\nWait", stdin=True)
    kernel.until(cell, lambda cell: has_sent(cell, "tool_running"))
    kernel.interrupt()
    assert kernel.finish(cell).error["ename"] == "RunStopped"
    assert kernel.value("[use.ok for use in hero.tool_uses]") == "[False]"


BEFORE = (
    "import threading\nmagics = get_ipython().magics_manager.registry['AgentMagics']\n"
    "released = threading.Event()\ndef blocked():\n    print('blocked', flush=True)\n    released.wait(60)\n"
    "class Imported(threading.Event):\n    def wait(self, timeout=None):\n        blocked()\n"
    "class Slow:\n    def __repr__(self):\n        blocked()\n        return 'slow'\n"
    "hero, slow, imported = 'as before', Slow(), Imported()"
)


@pytest.mark.parametrize("outer", ["", "%%time\n"], ids=["awaited", "nested"])
@pytest.mark.parametrize("imported", ["imported", "threading.Event()"], ids=["imports", "variables"])
def test_an_interrupt_before_the_run_ends_the_cell_with_one_line(kernel, server, outer, imported):
    kernel.run(f"{BEFORE}\nmagics.imported = {imported}\nmagics.imported.set()")
    sent = len(server.requests)
    cell = kernel.start(f"{outer}%%agent hero {MODEL}\nExplain {{{{slow}}}}")
    kernel.until(cell, lambda cell: "blocked" in cell.stdout)
    kernel.interrupt()
    ended = kernel.finish(cell)
    kernel.run("released.set()")
    assert ended.errors == "RunStopped: The cell was interrupted."
    assert kernel.value("hero") == "'as before'"
    assert len(server.requests) == sent


@pytest.mark.parametrize("outer", ["", "%%time\n"], ids=["awaited", "nested"])
@pytest.mark.parametrize("ending", ["await asyncio.sleep(1)", "time.sleep(1)"], ids=["awaits", "blocks"])
def test_interrupts_while_a_run_ends_leave_it_set_and_saved(kernel, server, outer, ending):
    kernel.run(
        "import asyncio, time\nfrom agent_nb import tool\n@tool(timeout=None)\nasync def wait() -> str:\n"
        "    'Waits.'\n    print('waiting', flush=True)\n    try:\n        await asyncio.Event().wait()\n"
        f"    finally:\n        print('ending', flush=True)\n        {ending}"
    )
    kernel.run("twice = None")
    server.plan(reply(Call("wait", {})))
    cell = kernel.start(f"{outer}%%agent twice {MODEL} -t wait\nWait", stdin=True)
    for line in ("waiting", "ending", "ending"):
        kernel.until(cell, lambda cell, line=line: line in cell.stdout)
        kernel.interrupt()
    assert kernel.finish(cell).error["ename"] == "RunStopped"
    assert kernel.value("twice.reason") == "'interrupted'"
    kernel.run("from agent_nb.run.store import RunStore\nfrom pathlib import Path")
    assert kernel.value("twice.id in str(RunStore(Path()).newest('twice'))") == "True"


def test_no_task_is_left_behind(kernel):
    names = kernel.run(
        "import agent_nb, asyncio, os\nours = os.path.dirname(agent_nb.__file__) + os.sep\n"
        "print([t.get_name() for t in asyncio.all_tasks() if ours in repr(t) and not t.done()])"
    )
    assert names.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "code",
    [
        "%%time\n%%agent outer -m demo:\nA form",
        "%%capture captured\n%%agent outer -m demo:\nA form",
        "get_ipython().run_cell_magic('agent', 'outer -m demo:', 'A form')",
    ],
    ids=["time", "capture", "programmatic"],
)
def test_the_magic_runs_however_it_is_invoked(kernel, code):
    kernel.run("outer = None")
    cell = kernel.run(code)
    assert cell.status == "ok", cell.errors
    assert kernel.value("outer.reason") == "'end_turn'"


def test_the_magic_runs_inside_a_custom_magic(kernel):
    kernel.run(
        "from IPython.core.magic import register_cell_magic\n@register_cell_magic\n"
        "def twice(line, cell):\n    for _ in range(2): get_ipython().run_cell(cell)"
    )
    assert kernel.run("%%twice\n%%agent wrapped -m demo:\nA form").status == "ok"
    assert kernel.value("wrapped.reason") == "'end_turn'"


def test_the_magic_runs_with_autoawait_off(kernel):
    kernel.run("%autoawait off")
    cell = kernel.run("%%agent plainly -m demo:\nA form")
    kernel.run("%autoawait on")
    assert cell.status == "ok"
    assert kernel.value("plainly.reason") == "'end_turn'"


def test_background_runs_continue_while_cells_run(kernel, server):
    kernel.run("%%agent one -m demo: --background --pace 0.05\nA form")
    kernel.run("%%agent two -m demo: --background --pace 0.05\nA game")
    assert kernel.value("[repr(one).split()[0], repr(two).split()[0]]") == "['<RunHandle', '<RunHandle']"
    kernel.run("import asyncio\nfrom agent_nb import Run")
    bound = "while not (isinstance(one, Run) and isinstance(two, Run)):\n    await asyncio.sleep(0.01)"
    assert kernel.run(f"await one; await two\n{bound}").status == "ok"
    assert kernel.value("(one.reason, two.reason, type(one).__name__)") == "('end_turn', 'end_turn', 'Run')"


def test_the_name_of_a_background_run_is_refused_until_it_is_stopped(kernel):
    kernel.run("%%agent busy -m demo: --background --pace 1\nA form")
    assert "`busy` is running" in kernel.run("%agent runs").stdout
    again = kernel.run("%%agent busy -m demo: --background --pace 1\nA form")
    assert "`busy` is still running in the background. Stop it with `busy.stop()`" in again.errors
    assert kernel.run("busy.stop(); (await busy).reason").result["text/plain"] == "'stopped'"
    assert kernel.run("%%agent busy -m demo:\nA form").status == "ok"
