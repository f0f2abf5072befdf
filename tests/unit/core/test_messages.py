"""The values of a conversation: frozen, tagged, counted the same for every vendor."""

import dataclasses

import pytest

from agent_nb.core import messages
from agent_nb.core.messages import Image, Message, Text, Thinking, ToolCall, ToolResult, Usage, user

PARTS = [Text, Thinking, Image, messages.Document, messages.Source, ToolCall, ToolResult]


def test_every_part_has_its_own_tag():
    assert [part.type for part in PARTS] == [
        "text",
        "thinking",
        "image",
        "document",
        "source",
        "tool_call",
        "tool_result",
    ]
    assert set(PARTS) == set(messages.Part.__args__)


@pytest.mark.parametrize("kind", [*PARTS, Message, Usage, messages.ToolSpec, messages.ToolUse])
def test_values_cannot_be_changed(kind):
    assert kind.__dataclass_params__.frozen
    assert "__slots__" in vars(kind)


def test_messages_do_not_share_vendor_data():
    assert user("a").vendor is not user("b").vendor


def test_usage_adds_up_field_by_field():
    fields = [field.name for field in dataclasses.fields(Usage)]
    one = Usage(**{name: 10**place for place, name in enumerate(fields)})
    assert dataclasses.asdict(one + one) == {name: 2 * 10**place for place, name in enumerate(fields)}
    assert one + Usage() == one
