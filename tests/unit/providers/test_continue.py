"""A run that continues a stopped one: the model gets back the end of the file that it was writing."""

import json

import pytest

from agent_nb import Agent, Run
from agent_nb.core.events import FileDelta
from agent_nb.providers.streaming import VendorProvider
from tests.support.wire import Call, Hold, Say, Think, WireServer, reply
from tests.support.wire.cases import CASES, Case

pytestmark = pytest.mark.parametrize("case", CASES, ids=str)

PAGE = "<!doctype html>\n" + "".join(f"<p>Loaf {number}</p>\n" for number in range(400))
ARGUMENTS = json.dumps({"path": "index.html", "content": PAGE})
EDIT = Call("edit_file", {"path": "index.html", "old": "Loaf 0<", "new": "Rye<"}, id="call_edit")


async def stopped(case: Case, provider: VendorProvider, server: WireServer) -> Run:
    """The run of a page that is stopped half way; a protocol that sends calls whole has come to its end."""
    written = ARGUMENTS[:4000] if case.streams_arguments else ARGUMENTS
    page = Call("create_file", written, id="call_page")
    server.plan(reply(Think("Loaves, then."), Say("I bake."), page, Hold()))
    handle = Agent(provider).start("A bakery page.")
    length = 0
    async for event in handle:
        length += len(event.text) if isinstance(event, FileDelta) else 0
        if length > 2500:
            break
    handle.stop()
    return await handle


def texts_of(body: object) -> list[str]:
    """All texts of a request, however its protocol nests them."""
    if isinstance(body, str):
        return [body]
    children = body.values() if isinstance(body, dict) else body if isinstance(body, list) else ()
    return [text for child in children for text in texts_of(child)]


async def test_it_sends_the_end_of_the_file_and_the_file_stays_unfinished(case: Case, server: WireServer):
    provider = case.provider(server)
    first = await stopped(case, provider, server)
    assert (first.text, first.thinking) == ("I bake.", "Loaves, then.")
    assert PAGE.startswith(first.html)
    server.plan(reply(Say("OK.")), reply(EDIT), reply(Say("Whole.")))
    second = await Agent(provider).run("Continue where you stopped.", base=first)
    [note] = [text for text in texts_of(server.requests[-1].body) if "(cut here)" in text]
    assert first.html[-2000:] in note
    assert first.html[-2020:] not in note
    assert f"`index.html` has what you had written: {len(first.html):,} characters" in note
    assert (second.reason, [*second.files.unfinished]) == ("end_turn", ["index.html"])
    third = await Agent(provider).run("Continue.", base=second)
    assert (third.text, [*third.files.unfinished]) == ("Whole.", [])
