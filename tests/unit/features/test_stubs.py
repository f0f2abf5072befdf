"""Stubs of what comes next: clients that work in a branch of their own."""

import asyncio

import pytest

from agent_nb import ConfigError, load, tool
from agent_nb.files import Files, Workspace
from agent_nb.plugins import Command, Feature, ToolContext
from agent_nb.run.store import RunStore
from tests.support.plugins import plugin_of


class Client:
    """Works in a branch of its own, with the tools of the kernel."""

    def __init__(self, host):
        self.host, self.files = host, Workspace(Files())

    async def work(self, code):
        (run_python,) = (tool for tool in self.host.tools(["kernel"]) if tool.name == "run_python")
        branch = await self.host.branch()
        try:
            context = ToolContext(files=self.files, progress=print)
            return (await branch.call(run_python.name, {"code": code}, context)).text
        finally:
            branch.end()


async def test_a_client_works_in_a_branch_and_the_session_stays_as_it_was(shell):
    shell.run("rows = [1]")
    said = await Client(shell.session).work("rows.append(2); total = sum(rows); total")
    assert "3" in said
    assert shell.session.value("rows") == [1]
    with pytest.raises(ConfigError, match="There is no variable `total`"):
        shell.session.value("total")


def test_the_host_has_tools_by_the_names_of_t(shell):
    names = {tool.name for tool in shell.session.tools(["kernel", "read_file"])}
    assert {"run_python", "list_variables", "read_file"} <= names
    with pytest.raises(ConfigError, match="There is no tool `nothing`"):
        shell.session.tools(["nothing"])


async def test_the_host_says_why_it_has_no_cells(shell):
    with pytest.raises(ConfigError, match="The notebook cannot be read"):
        await shell.session.cells()


LENDING = Feature(
    "lending",
    commands=(Command("lending [OPTION...]", "Lend.", f"{__name__}:lend_command", waits=True),),
)


@tool
async def wait_long() -> str:
    """Waits."""
    await asyncio.sleep(600)
    return "too late"


async def lend_command(host, arguments):
    """The clients work before it returns: this shell's loop ends with the cell."""
    clients = await host.open_view(arguments, "Lent to clients.")
    try:
        await host.memory["work"](clients)
    finally:
        clients.end()
        await clients
        await asyncio.gather(*host.finishing)


def lend(shell, work, line="lent -t kernel -t wait_long"):
    shell.names["wait_long"] = wait_long
    shell.session.memory["work"] = work
    with plugin_of(LENDING):
        done = shell.run(f"%agent lending {line}")
    assert done.ok, done.error
    return shell.names["lent"]


def test_clients_are_variants_of_a_run_without_a_model(shell):
    async def work(clients):
        ada, bob = clients.join("Ada"), clients.join("Bob\n\x1b[2J" + "b" * 200)
        await ada.note("Connected", "from a terminal")
        assert "rows" in (await ada.call("list_variables", {})).text
        assert (await bob.call("nothing", {})).code == "UNKNOWN_TOOL"
        assert (await bob.call("create_file", {"path": "a.txt", "content": "Hi"})).ok
        ada.leave()
        assert (await ada.call("list_variables", {})).code == "STOPPED"

    shell.run("rows = [1, 2]")
    lent = lend(shell, work)
    ada, bob = lent.variants
    assert (lent.reason, ada.reason, lent.prompt, lent.system) == (
        "end_turn",
        "end_turn",
        "Lent to clients.",
        "",
    )
    assert (ada.model, [use.call.name for use in ada.tool_uses]) == ("client:Ada", ["list_variables"])
    assert ada.messages[-1].role == "tool"
    assert "Connected" in ada.to_markdown()
    assert bob.model.startswith("client:Bob")
    assert len(bob.model) < 80
    assert bob.model.isprintable()
    assert bob.files["a.txt"] == "Hi"
    print([*shell.session.home.rglob("*")])
    (path,) = RunStore(shell.session.home).folder.glob("*-lent-*")
    assert len(load(path).variants) == 2


@pytest.mark.parametrize("number", [None, 1])
def test_a_call_of_a_client_that_is_stopped_is_answered(shell, number):
    async def work(clients):
        client = clients.join("Ada")
        call = asyncio.create_task(client.call("wait_long", {}))
        clients.subscribe(lambda event: event.type == "tool_running" and clients.stop(number=number))
        assert (await call).code == "STOPPED"
        if number is None:
            with pytest.raises(ConfigError, match="has ended"):
                clients.join("Bob")
        else:
            assert clients.join("Bob").variant == 1

    lent = lend(shell, work)
    assert (lent.variants or (lent,))[0].reason == "stopped"


def test_a_client_cancels_its_call_alone(shell):
    async def work(clients):
        client = clients.join("Ada")
        call = asyncio.create_task(client.call("wait_long", {}))
        clients.subscribe(lambda event: event.type == "tool_running" and call.cancel())
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await client.call("list_variables", {})).ok

    assert [use.ok for use in lend(shell, work).tool_uses] == [False, True]


def test_without_a_client_it_ends_without_a_call(shell):
    async def work(clients):
        assert not clients.done

    lent = lend(shell, work)
    assert (lent.reason, lent.tool_uses) == ("end_turn", ())


def test_the_rules_and_defaults_of_cells_apply_to_clients(shell):
    async def work(clients):
        assert not (await clients.join("Ada").call("run_python", {"code": "1"})).ok

    (shell.session.home / "lab.toml").write_text('[lab]\ndata = "schema"\n')
    lent = lend(shell, work, "lent -t kernel --approve run_python=deny --seconds 60")
    assert (lent.settings["data"], lent.settings["seconds"]) == ("schema", 60)
    with plugin_of(LENDING):
        refused = str(shell.run("%agent lending lent -m demo:").error)
    assert refused == "--model is for runs of a model. Leave it out."
