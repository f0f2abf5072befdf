"""A live run without a model in a real kernel: a feature of the notebook opens it, and clients call its tools."""

PLUGIN = """
import asyncio
from agent_nb import plugins, tool

async def lend(host, line):
    global clients
    clients = await host.open_view(line, "Lent to clients.")

@tool(approval="ask")
def greet(name: str) -> str:
    "Greets."
    return f"Hello, {name}."

class Lends(plugins.Plugin):
    def features(self):
        command = plugins.Command("lending [OPTION...]", "Lend.", "__main__:lend", waits=True)
        return [plugins.Feature("lending", commands=(command,))]

plugins.register(Lends())
"""
CALLS = """
ada = clients.join("Ada")
calls = asyncio.gather(ada.call("greet", {"name": "Ada"}), ada.call("run_python", {"code": "rows.append(3)"}))
"""


def test_clients_work_in_the_background_and_ask_in_the_page(page):
    page.kernel.run(PLUGIN)
    page.kernel.run("rows = [1]")
    page.finish(page.start("%agent lending lent -t kernel -t greet --branch --approve run_python=auto"))
    page.finish(page.start(CALLS))
    asked = page.question()
    assert (asked["name"], asked["args"]) == ("greet", {"name": "Ada"})
    page.command("approve", call_id=asked["call_id"])
    page.pump(lambda: len(page.of("tool_finished")) == 2)
    page.command("stop")
    page.pump(lambda: "ready" in [message["kind"] for message in page.messages])
    assert page.kernel.value("[each.text for each in await calls][0]") == "'Hello, Ada.'"
    assert page.kernel.value("rows") == "[1]"
    assert page.kernel.value("lent.reason, lent.model, len(lent.tool_uses)") == "('stopped', 'client:Ada', 2)"
    assert page.kernel.value("clients.done, lent.to_cells()[0].source") == "(True, 'rows.append(3)')"
