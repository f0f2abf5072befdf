"""The package's log lines, and the tracebacks below them, hold no secret."""

import io
import logging

import pytest

from agent_nb import Agent
from agent_nb._base.log import log
from agent_nb._base.secrets import MASK
from agent_nb.providers.scripted import ScriptedProvider, text

KEY = "sk-ant-api03-" + "x9-Y" * 8


@pytest.fixture
def lines():
    """What a user's own handler writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    log.addHandler(handler)
    yield stream
    log.removeHandler(handler)


async def test_what_a_subscriber_raises_is_masked(lines):
    agent = Agent(ScriptedProvider([[text("Done.")]]))
    agent.on_event(lambda event: {}[KEY])
    assert (await agent.run("go")).reason == "end_turn"
    assert "a subscriber failed" in lines.getvalue()
    assert f"KeyError: '{MASK}'" in lines.getvalue()
    assert "x9-Y" not in lines.getvalue()


def test_handlers_see_the_text_alone(caplog):
    """A handler that formats tracebacks itself would show the values in them."""
    with caplog.at_level(logging.ERROR, "agent_nb"):
        try:
            raise ValueError(KEY)
        except ValueError:
            log.exception("it failed")
    (record,) = caplog.records
    assert record.exc_info is None
    assert MASK in (record.exc_text or "")
