"""Messages that are read while a cell awaits."""

import asyncio
import queue

from marimo._runtime.commands import ModelCommand, ModelCustomMessage, ModelUpdateMessage

from agent_nb.hosts.marimo.inbox import Inbox


def custom(model_id, content):
    return ModelCommand(model_id=model_id, message=ModelCustomMessage(content=content), buffers=[])


async def test_messages_arrive_while_the_cell_awaits_and_stay_in_the_queue():
    waiting = queue.Queue()
    update = ModelCommand(
        model_id="one", message=ModelUpdateMessage(state={"variant": 2}, buffer_paths=[]), buffers=[]
    )
    requests = [custom("one", {"id": 1}), update, custom("two", {"id": 2}), custom("other", {"id": 3})]
    seen = []
    inbox = Inbox(waiting)
    arrived = asyncio.Event()
    inbox.add("one", lambda content: seen.append(("one", content)))
    inbox.add("two", lambda content: (seen.append(("two", content)), arrived.set()))
    for request in requests:
        waiting.put(request)
    await asyncio.wait_for(arrived.wait(), 10)
    assert seen == [("one", {"id": 1}), ("two", {"id": 2})]
    inbox.remove("one")
    assert waiting.empty()
    inbox.remove("two")
    assert [waiting.get_nowait() for _ in requests] == requests


async def test_what_arrives_at_the_very_end_is_still_delivered():
    waiting = queue.Queue()
    seen = []
    inbox = Inbox(waiting)
    inbox.add("one", seen.append)
    waiting.put(custom("one", {"id": 1}))
    inbox.remove("one")
    assert seen == [{"id": 1}]
    assert waiting.qsize() == 1
