"""Text that arrives in fragments."""

from hypothesis import given
from hypothesis import strategies as st

from agent_nb._base.text import TextBuffer

TEXTS = st.text(st.characters(), max_size=4) | st.sampled_from(["\ud83d", "\ude00", "é", "€", "🍞"])


@given(st.lists(TEXTS, max_size=6))
def test_it_gives_back_what_was_added(texts: list[str]):
    buffer = TextBuffer()
    for text in texts:
        buffer.add(text)
    assert str(buffer) == "".join(texts)
    buffer.clear()
    buffer.add("new")
    assert str(buffer) == "new"


@given(st.lists(TEXTS, max_size=6), st.lists(TEXTS, max_size=6))
def test_it_knows_its_text(texts: list[str], others: list[str]):
    buffer = TextBuffer()
    for text in texts:
        buffer.add(text)
    assert buffer.equals("".join(others)) == ("".join(texts) == "".join(others))
    assert buffer.equals("".join(texts))


def test_a_long_text_is_compared_to_its_end():
    buffer = TextBuffer()
    text = "é€" * 50_000
    buffer.add(text)
    assert buffer.equals(text)
    assert not buffer.equals(text + "x")
    assert not buffer.equals(text[:-1])
    assert not buffer.equals("")
