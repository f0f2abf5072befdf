"""The sentence on how a call was changed."""

from agent_nb.render.transcript import MOST_CHARACTERS, changes


def test_changed_added_and_removed_arguments_are_named():
    assert changes({"path": "a", "size": 3, "same": [1]}, {"path": "b", "same": [1], "new": True}) == (
        '`path` from "a" to "b" and `size` from 3 to nothing and `new` from nothing to true'
    )


def test_of_long_texts_the_part_that_differs_is_quoted():
    code = "x = 1\n" * 1000
    text = changes({"code": code + "delete()" + code}, {"code": code + "keep()" + code})
    assert "delete()" in text
    assert "keep()" in text
    assert text.count("…") == 4
    assert len(text) < 2 * MOST_CHARACTERS + 100


def test_no_half_of_a_key_is_quoted():
    key = "sk-ant-api03-" + "k7Q" * 30
    text = changes({"code": f"{'x = 1; ' * 54}{key}"}, {"code": "y"})
    assert "sk-ant" not in text
    assert "•••" in text
