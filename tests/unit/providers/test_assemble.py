"""Deltas become parts in one place."""

from agent_nb.messages import Source, Text, Thinking, ToolCall, Usage
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import CallPiece, CallStarted, TextPiece, ThinkingPiece


def parts_of(assembler: Assembler):
    return assembler.turn(stop="end_turn", usage=Usage(), model="m").message.parts


def test_unkeyed_text_goes_on_until_the_kind_changes():
    turn = Assembler()
    pieces = [turn.thinking("a"), turn.thinking("b"), turn.text("c"), turn.text("d"), turn.thinking("e")]
    assert pieces == [
        ThinkingPiece("a"),
        ThinkingPiece("b"),
        TextPiece("c"),
        TextPiece("d"),
        ThinkingPiece("e"),
    ]
    assert parts_of(turn) == (Thinking("ab"), Text("cd"), Thinking("e"))


def test_keyed_blocks_may_interleave():
    turn = Assembler()
    for key, text in ((0, "a"), (1, "x"), (0, "b"), (1, "y")):
        turn.text(text, key)
    assert parts_of(turn) == (Text("ab"), Text("xy"))
    assert turn.joined("text", 1) == "xy"
    assert turn.joined("thinking", 1) == ""


def test_calls_keep_their_fragments_apart():
    turn = Assembler()
    assert turn.start_call(0, "a", "search") == CallStarted("a", "search")
    assert turn.start_call(1, "b", "search") == CallStarted("b", "search")
    assert turn.arguments(0, '{"q"') == CallPiece("a", '{"q"')
    turn.arguments(1, "{}")
    turn.arguments(0, ": 1}")
    assert parts_of(turn) == (ToolCall("a", "search", '{"q": 1}'), ToolCall("b", "search", "{}"))
    assert turn.joined("call", 0) == '{"q": 1}'


def test_a_call_without_arguments_is_an_empty_object():
    turn = Assembler()
    turn.start_call(0, "a", "list_files")
    assert turn.has_calls
    assert parts_of(turn) == (ToolCall("a", "list_files", "{}"),)


def test_empty_text_leaves_no_part():
    turn = Assembler()
    turn.text("", 0)
    turn.thinking("", 1)
    turn.cite({"title": "A page", "url": "https://example.org"})
    assert parts_of(turn) == (Source("A page", "https://example.org"),)
