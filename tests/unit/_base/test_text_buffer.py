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
