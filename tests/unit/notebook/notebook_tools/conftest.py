"""A notebook on a page: it answers the kernel's questions about cells as the extension does."""

import asyncio
import base64
import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from agent_nb import Agent
from agent_nb._base.late import SECRET_SOURCES
from agent_nb.core.events import ToolFinished
from agent_nb.notebook.notebook_tools.open_notebook import open_notebook
from agent_nb.notebook.notebook_tools.tools import notebook_tools
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.scripts import of
from tests.unit.notebook.live.conftest import PAGE, Desk

OWN = "own-cell"


def code(name, source, *outputs, count=1):
    return {
        "id": name,
        "cell_type": "code",
        "source": source,
        "execution_count": count,
        "outputs": [*outputs],
    }


def figure(colour="red"):
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(buffer, "PNG")
    data = {"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": "<Figure>"}
    return {"output_type": "display_data", "data": data}


class OpenPage(Desk):
    """A hub with a page that shows this notebook."""

    def __init__(self, cells) -> None:
        super().__init__()
        self.cells = cells
        self.left_out = 0
        self.hub.model.send = self._receive
        self.session = SimpleNamespace(
            shell=SimpleNamespace(
                kernel=SimpleNamespace(get_parent=lambda: {"metadata": {"cellId": OWN}}),
                user_ns={},
                execution_count=0,
                history_manager=SimpleNamespace(input_hist_raw=[]),
            ),
            namespace={},
            home=Path("nowhere"),
        )

    def _receive(self, message, *_):
        self.sent.append(message)
        if message["kind"] == "notebook":
            asyncio.get_running_loop().call_soon(self._answer, message)

    def _answer(self, message):
        rows = [{**cell, "number": number} for number, cell in enumerate(self.cells, 1)]
        only = message["only"]
        cells = [row for row in rows if row["number"] in only or row.get("id") in only] if only else rows
        self.command("notebook", request_id=message["request_id"], cells=cells, left_out=self.left_out)

    async def run(self, *calls, schema_only=False, answer="Done.", failure=None):
        """A run that makes these calls of tools, one in a turn, as it is shown. It fixes the `failure`."""
        tools = notebook_tools(self.session, schema_only=schema_only)
        turns = [[call(name, args)] for name, args in calls]
        provider, data = ScriptedProvider([*turns, [text(answer)]]), "schema" if schema_only else "all"
        handle = Agent(provider, tools=tools).with_data(data).start("Do it.")
        shown = self.show(handle, "hero-1")
        shown.failure = failure
        shown.announce_ready(await handle, None)
        return shown

    async def result(self, name, /, schema_only=False, **args):
        """What the model gets for one call."""
        shown = await self.run((name, args), schema_only=schema_only)
        return shown.result.tool_uses[0].result

    def decide(self, decision, *changes, client=PAGE):
        ids = [change.id for change in changes]
        self.sent.clear()
        self.hub.receive(
            {"kind": "command", "id": "d", "client": client, "command": "decide", "key": "hero-1"}
            | {"changes": ids, "decision": decision}
        )
        return next(message for message in self.sent if message["kind"] == "answer")


def outputs_of(shown):
    return [bundle for end in of(shown.handle, ToolFinished) for bundle in end.outputs]


@pytest.fixture
async def page():
    cells = [
        {"id": "intro", "cell_type": "markdown", "source": ["# Sales\n", "of 2026"]},
        code("load", "prices = [3, 5]\nprint(prices)", {"output_type": "stream", "text": ["[3, 5]\n"]}),
        code("plot", "plot(prices)", figure(), count=2),
        code(
            "mean",
            "sum(prices) / rate",
            {"output_type": "error", "ename": "NameError", "evalue": "rate", "traceback": [""]},
        ),
        {"id": OWN, "cell_type": "code", "source": "%%agent -t notebook\nFix it", "outputs": []},
    ]
    yield OpenPage(cells)
    open_notebook.send = None


@pytest.fixture
def secret():
    """A secret value of one of the user's variables."""
    value = "tiger-lily-42"

    def source():
        return {value: "`password`"}

    SECRET_SOURCES.append(source)
    yield value
    SECRET_SOURCES.remove(source)
