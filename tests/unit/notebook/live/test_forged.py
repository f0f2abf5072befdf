"""Messages that no page of ours sends: each is answered with one sentence, and none approves anything."""

import json
from typing import get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_nb.notebook.live.commands import COMMANDS as COMMAND_TYPES
from agent_nb.providers.scripted import call, text
from tests.support.scripts import run_script, write
from tests.unit.notebook.live.test_hub import python

texts = st.text(st.characters(categories=("L", "N", "P", "Cs", "Cc")), max_size=20)
numbers = st.integers(-(10**400), 10**400) | st.floats() | st.sampled_from([-1, 1, 2, 2**31, 2**63])
plain = st.none() | st.booleans() | numbers | texts
junk = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)


def nested(depth):
    value = []
    for _ in range(depth):
        value = {"a": [value]}
    return value


deep = st.sampled_from([45, 150, 300]).map(nested)
COMMANDS = st.sampled_from(sorted(COMMAND_TYPES)) | texts
RIGHT = {
    str: texts | st.sampled_from(["index.html", "h1", "call_0"]),
    bool: st.booleans(),
    int: st.integers(-2, 3),
    int | None: st.integers(-2, 3),
    str | None: st.just("index.html"),
}
FIELDS = {
    name: st.one_of([RIGHT.get(kind, junk)] * 9 + [junk | deep])
    for command in COMMAND_TYPES.values()
    for name, kind in get_type_hints(command).items()
}
"""Values of the right type, so that commands are reached, and others."""


def answers(desk, message):
    """What the hub sends for a message: all of it can be sent, and none is about an error of ours."""
    desk.sent.clear()
    desk.hub.receive(message)
    json.dumps(desk.sent, ensure_ascii=False, allow_nan=False).encode()
    return desk.sent


often = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
async def ended(desk):
    """A run that has ended, as the page knows it."""
    key = desk.hub.adopt(await run_script([[write("index.html", "<h1>Hi</h1>")], [text("Done.")]]))
    return desk, key


@often
@given(st.data())
def test_any_message_is_answered(ended, data):
    desk, key = ended
    fields = data.draw(st.fixed_dictionaries({}, optional=FIELDS))
    message = {"id": "", "client": "", **fields}
    message |= {"kind": "command", "command": data.draw(COMMANDS), "key": key}
    found = [
        reply for reply in answers(desk, message) if reply["kind"] == "answer"
    ]  # "resync" sends events, too
    if not found:
        assert desk.hub._answering, "a command that takes long is answered later"
        return
    (answer,) = found
    assert answer["ok"] or answer["error"].endswith((".", ")"))


@often
@given(junk | deep)
def test_what_is_no_command_is_ignored(ended, content):
    assert answers(ended[0], content) == []


VALID = {"id": "#1", "client": "page", "variant": 0, "call_id": "", "note": "", "scope": "always", "args": {}}


async def test_a_damaged_answer_approves_nothing(desk):
    handle, shown, asked = await desk.ask([call("python", {"code": "a = 1"})], tools=[python])
    valid = {**VALID, "call_id": asked.call_id, "args": asked.args, "run_id": shown.id}

    @often
    @given(
        st.sampled_from(sorted(valid)), junk | deep, st.sampled_from(["approve", "try", "ask_again", "stop"])
    )
    def forge(field, value, command):
        if value is None or (
            type(value) is type(valid[field]) and field in ("id", "client", "variant", "note")
        ):
            value = [value]
        message = {"kind": "command", "command": command, **valid, field: value}
        if command in ("approve", "try") or field in ("id", "client", "variant", "run_id"):
            assert answers(desk, message)[-1]["ok"] is False
        assert len(shown.questions.open) == 1

    forge()
    assert desk.command("deny", **{**valid, "id": "#2"})["ok"]
    run = await handle
    assert [use.result.code for use in run.tool_uses] == ["DENIED"]
