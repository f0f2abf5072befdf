"""The wire form: by tag out, by declared type back."""

import pytest

from agent_nb._base.wire import from_wire, to_wire
from agent_nb.core.messages import Image, Message, Text, ToolCall, Usage


def test_bytes_travel_as_base64():
    image = Image(b"\x89PNG", "image/png", "logo")
    assert to_wire(image)["data"] == "iVBORw=="
    assert from_wire(Image, to_wire(image)) == image


def test_data_that_looks_like_a_value_stays_plain():
    parts = (Text("hi"), ToolCall("1", "draw", '{"type": "text"}'))
    message = Message(
        role="assistant", parts=parts, vendor={"anthropic": {"type": "text", "text": "not ours"}}
    )
    assert from_wire(Message, to_wire(message)) == message


def test_unknown_fields_of_a_newer_release_are_passed_over():
    assert from_wire(Usage, {"input": 3, "surprise": True}) == Usage(input=3)


def test_what_has_no_wire_form_says_so():
    with pytest.raises(TypeError, match="object has no wire form"):
        to_wire(object())
