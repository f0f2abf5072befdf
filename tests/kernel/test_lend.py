"""`%agent lend` on a real kernel, with two and more clients at once."""

import asyncio
import os
import signal
import sys
from contextlib import contextmanager
from itertools import count

import httpx2
import pytest
from mcp import Client, Implementation
from mcp.client.streamable_http import streamable_http_client

from agent_nb._base import mcp
from agent_nb.features.lend.bridge import LostError
from agent_nb.features.lend.lease import leases
from tests.support.kernels import start_kernel
from tests.support.lent import LentClient
from tests.support.live_page import Page
from tests.support.waiting import wait_for

UNTIL_FREE = "while not free.exists(): time.sleep(0.05)"
AUTO = "--approve run_python=auto"
KEY = "sk-lent-0123456789abcdefghijklmnop"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="branches need fork")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("lent")


@pytest.fixture(scope="module")
def page(home):
    with start_kernel(home) as kernel:
        yield Page(kernel)


@pytest.fixture(autouse=True)
def runtime(home, page, monkeypatch):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(home / ".runtime"))
    for name in ("free", "here"):
        (home / name).unlink(missing_ok=True)
    page.kernel.run("import pathlib, time\nhere, free = pathlib.Path('here'), pathlib.Path('free')")


@contextmanager
def lent(page, line=AUTO):
    """The notebook lent; `of(name)` connects a client."""
    page.finish(page.start(f"%agent lend {line}"))
    [lease] = leases()
    agents = []

    def of(name):
        agents.append(LentClient(lease, name))
        return agents[-1]

    try:
        yield of
    finally:
        page.kernel.run("%agent lend --off")
        assert leases() == []


def test_clients_at_once_each_have_a_branch_and_the_session_stays_as_it_is(page, home):
    page.kernel.run("rows = [1]")
    with lent(page) as of:
        ann, bob = of("ann"), of("bob")
        calls = [ann.start("run_python", code="rows.append('a'); x = 1; rows"),
                 bob.start("run_python", code="rows.append('b'); rows")]  # fmt: skip
        assert "[1, 'a']" in calls[0]()
        assert "[1, 'b']" in calls[1]()
        assert "NameError" in bob.run("x")
        assert "42" in ann.run("x + 41")
        assert page.kernel.value("rows, 'x' in globals()") == "([1], False)"
    assert page.kernel.value("[each.model for each in lent.variants], lent.reason") == (
        "(['client:ann', 'client:bob'], 'end_turn')"
    )
    page.kernel.run("lent.pick(1).apply(anyway=True)")
    assert page.kernel.value("rows, x") == "([1, 'a'], 1)"
    folder = home / ".agent_nb" / "runs"
    wait_for(lambda: [*folder.glob("*-lent-*")] and not [*folder.glob("*.part.*")])
    [path] = folder.glob("*-lent-*")
    assert page.kernel.value(f"len(__import__('agent_nb').load({str(path)!r}).variants)") == "2"
    text = page.kernel.value("lent.to_markdown(), lent.to_html(), lent.pick(2).to_cells()[0].source")
    assert "rows.append('b'); rows" in text
    assert "a copy of the notebook as it was then" in text


def test_while_a_cell_runs_tools_are_listed_and_a_call_waits(page, home):
    with lent(page) as of:
        ann, bob = of("ann"), of("bob")
        ann.run("1")
        number = page.kernel.value("len(In)")
        cell = page.start(f"here.touch()\n{UNTIL_FREE}")
        wait_for((home / "here").exists)
        calls = [ann.start("run_python", code="'after'"), bob.start("list_variables")]
        assert "run_python" in [tool["name"] for tool in ann.ask("tools/list")["tools"]]
        wait_for(lambda: ann.told and bob.told)
        (home / "free").touch()
        assert "after" in calls[0]()
        calls[1]()
        page.finish(cell)
        assert bob.told[0].startswith("the notebook is running cell [")
        assert bob.told[0] != f"the notebook is running cell [{number}]"


def test_of_four_clients_the_one_that_has_been_idle_longest_gets_a_new_branch(page):
    with lent(page) as of:
        agents = [of(name) for name in "abcd"]
        for number, agent in enumerate(agents):
            agent.run(f"mine = {number}")
        text = agents[0].run("mine")
        assert "NameError" in text
        assert "The branch had ended" in text
        assert "3" in agents[3].run("mine")
        assert "2" in agents[2].run("mine")


def test_where_three_clients_are_at_work_the_fourth_waits(page, home):
    with lent(page) as of:
        marks = [home / name for name in "abc"]
        busy = [
            of(mark.name).start("run_python", code=f"open({mark.name!r}, 'w')\n{UNTIL_FREE}")
            for mark in marks
        ]
        wait_for(lambda: all(mark.exists() for mark in marks))
        fourth = of("d")
        answer = fourth.start("run_python", code="'mine'")
        wait_for(lambda: fourth.told)
        assert fourth.told[0] == "3 other clients are at work in their branches"
        (home / "free").touch()
        assert "mine" in answer()
        assert not any("no result" in each() for each in busy)


def test_a_client_comes_back_to_its_branch(page):
    with lent(page) as of:
        ann = of("ann")
        ann.run("mine = 7")
        again = LentClient.__new__(LentClient)
        again.session, again.numbers, again.told = ann.session, count(50), []
        assert "7" in again.run("mine")


def test_a_cancelled_call_ends_its_code_at_once(page, home):
    with lent(page) as of:
        ann = of("ann")
        ann.run("import pathlib, time, os")
        answer = ann.start("run_python", code="pathlib.Path('begun').touch(); time.sleep(50)")
        wait_for((home / "begun").exists)
        note = {"requestId": 2}
        list(ann.session.ask(mcp.rpc(method="notifications/cancelled", params=note)))
        assert answer() == "no result: {}"
        assert "The branch had ended" in ann.run("1")


def test_the_user_is_asked_in_the_notebook_and_other_calls_go_on(page):
    with lent(page, "") as of:
        ann = of("ann")
        answer = ann.start("run_python", code="40 + 2")
        asked = page.question()
        assert asked["args"] == {"code": "40 + 2"}
        assert "create" not in ann.call("list_variables")
        page.command("approve", call_id=asked["call_id"])
        assert "42" in answer()
        assert "waiting for the user's answer in the notebook" in ann.told


def test_a_question_without_an_answer_is_answered(page):
    page.kernel.run("import agent_nb.engine.client_runs as runs; runs.ANSWER_SECONDS = 0.5")
    with lent(page, "") as of:
        text = of("ann").run("1")
        assert "has not answered" in text
    page.kernel.run("runs.ANSWER_SECONDS = 600")


def test_secrets_are_masked_also_the_token_and_schema_holds_values_back(page):
    page.kernel.run(f"api_key = {KEY!r}; amounts = [1234567]")
    with lent(page) as of:
        ann = of("ann")
        token = leases()[0].token
        files = "[open(p).read() for p in __import__('glob').glob('.runtime/agent_nb-lent*')]"
        text = ann.run(f"print(api_key, {files})")
        assert KEY not in text
        assert token not in text
        assert token not in page.kernel.run("%agent lend").errors
    assert token not in page.kernel.value("lent.to_html() + lent.to_markdown()")
    with lent(page, f"-t kernel {AUTO} --data schema") as of:
        assert "1234567" not in of("ann").run("print(amounts)")


def test_stop_in_the_page_stops_one_or_all(page):
    with lent(page) as of:
        ann, bob = of("ann"), of("bob")
        ann.run("1")
        bob.run("1")
        page.pump(lambda: page.batches)
        page.command("stop", variant=0)
        wait_for(lambda: "ended this" in ann.run("1"))
        assert "1" in bob.run("1")
        page.command("stop")
        wait_for(lambda: leases() == [])
        with pytest.raises(LostError):
            bob.run("1")
    assert page.kernel.value("lent.reason") in ("'stopped'",)


def test_the_time_of_a_lease_ends_it(page):
    page.finish(page.start("%agent lend short -t kernel --seconds 1"))
    wait_for(lambda: leases() == [])
    wait_for(lambda: page.kernel.value("type(short).__name__") == "'Run'")
    assert page.kernel.value("short.reason") == "'max_seconds'"


def test_a_class_lends_only_if_its_file_says_so(page, home):
    lab = home / "lab.toml"
    try:
        lab.write_text('[lab]\ntitle = "A"\n')
        assert (
            "Notebooks of this lab are not lent. (`lend` in lab.toml)"
            in page.kernel.run("%agent lend").errors
        )
        lab.write_text("[lab]\nlend = true\n")
        with lent(page) as of:
            assert "2" in of("ann").run("1 + 1")
    finally:
        lab.unlink()


def test_an_address_and_its_token_for_another_client(page):
    page.finish(page.start(f"%agent lend --http {AUTO}"))
    printed = page.streams["stdout"]
    [lease] = leases()
    assert lease.url in printed
    assert printed.count(lease.token) >= 1

    async def work():
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {lease.token}"}, trust_env=False)
        transport = streamable_http_client(lease.url, http_client=http)
        async with Client(transport, client_info=Implementation(name="Eve <b>", version="2")) as client:
            return await client.call_tool("run_python", {"code": "6 * 7"})

    assert "42" in asyncio.run(work()).content[0].text
    page.kernel.run("%agent lend --off")
    assert "<b>" not in page.kernel.value("lent.to_html()").replace("&lt;b&gt;", "")


def test_what_cannot_be_lent_is_said(page):
    assert "is for runs of a model" in page.kernel.run("%agent lend -m demo:").errors
    assert "`nothing` is not defined" in page.kernel.run("%agent lend -t nothing").errors
    assert "not lent" in page.kernel.run("%agent lend --off").stdout
    with lent(page):
        assert "is lent already" in page.kernel.run("%agent lend").errors


@pytest.mark.parametrize("end", ["killed", "restarted"])
def test_a_kernel_that_ends_takes_its_lease_along(tmp_path, monkeypatch, end):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / ".runtime"))
    with start_kernel(tmp_path) as kernel:
        kernel.run("%agent lend")
        [lease] = leases()
        agent = LentClient(lease, "ann")
        assert "rows" not in agent.call("list_variables")
        if end == "killed":
            os.kill(int(kernel.value("__import__('os').getpid()")), signal.SIGKILL)
        else:
            kernel.manager.shutdown_kernel(restart=True)
            wait_for(lambda: not [*(tmp_path / ".runtime").glob("agent_nb-lent*")])
        wait_for(lambda: leases() == [])
        assert not [*(tmp_path / ".runtime").glob("agent_nb-lent*")]
        with pytest.raises(LostError):
            agent.call("list_variables")
