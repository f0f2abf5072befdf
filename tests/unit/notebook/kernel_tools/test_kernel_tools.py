"""`-t kernel`, `-t list_variables` and `kernel_tools()`: which tools they offer."""

from dataclasses import replace

import pytest
from IPython.core.interactiveshell import InteractiveShell

from agent_nb import Agent, ConfigError, kernel_tools
from agent_nb._base.secrets import own_values
from agent_nb.notebook.magic.plan import make_plan
from tests.support.shells import Shell

NAMES = {"list_variables", "describe_variable"}


async def offered(shell: Shell, line: str) -> set[str]:
    plan = await make_plan(shell.session, shell.options(f"-m demo: {line}"), "Hello", watched=False)
    return {tool.name for tool in plan.prepared[0].toolbox.own}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("", set()),
        ("-t kernel", NAMES),
        ("-t list_variables", {"list_variables"}),
        ("-t kernel -t list_variables -t kernel", NAMES),
    ],
)
async def test_the_magic_offers_them_by_group_or_by_name(shell, line, names):
    assert await offered(shell, line) >= names
    assert bool(await offered(shell, line)) == bool(names)


async def test_a_tool_of_the_users_own_comes_first(shell):
    shell.run("def kernel(size: int) -> int:\n    return size")
    assert await offered(shell, "-t kernel") == {"kernel"}
    shell.run("kernel = 3  # no tool")
    assert await offered(shell, "-t kernel") >= NAMES


async def test_an_agent_takes_them_and_they_never_ask(shell):
    tools = [tool for tool in kernel_tools() if tool.name in NAMES]
    assert {tool.name for tool in Agent("demo:", tools=tools).tools} == NAMES
    assert {tool.approval for tool in tools} == {"never"}


def test_listing_them_registers_nothing_for_good(shell):
    shell.ipython.run_line_magic("unload_ext", "agent_nb")
    shell.names["db_password"] = "hunter2hunter2"
    assert [tool.name for tool in kernel_tools()]
    assert own_values() == {}
    tools = kernel_tools()
    assert "hunter2hunter2" in own_values()
    shell.ipython.run_line_magic("load_ext", "agent_nb")
    del tools
    assert "hunter2hunter2" in own_values()


def test_cassettes_outlive_their_descriptions(shell):
    def fingerprint(tools):
        return Agent("demo:", tools=tools).prepare("Hello").fingerprint()

    tools = kernel_tools()
    reworded = [replace(tool, spec=replace(tool.spec, description="Other words.")) for tool in tools]
    assert fingerprint(reworded) == fingerprint(tools)
    assert fingerprint(tools[:2]) != fingerprint(tools)


def test_without_ipython_a_sentence_says_so():
    InteractiveShell.clear_instance()
    with pytest.raises(ConfigError, match="needs IPython"):
        kernel_tools()


def test_tab_and_the_table_of_tools_name_them(shell):
    texts = {each.text for each in shell.complete("%%agent -t ")}
    assert {"kernel", *NAMES} <= texts
    assert "-t kernel" in str(shell.run("%agent tools").displays)
