"""Any plain value in one line: short, without line breaks, without secrets, and no work for what is not shown."""

from hypothesis import given
from hypothesis import strategies as st

from agent_nb.notebook.kernel_tools.variables import ITEMS, WIDTH, one_line, size, type_name

SECRET = "correct-horse"
short = st.text(max_size=12)
leaves = st.none() | st.integers() | st.floats() | short | st.binary(max_size=12)
secrets = st.dictionaries(st.sampled_from(["password", "api_key", "token"]), st.just(SECRET))
values = st.recursive(
    leaves | secrets,
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(short, inner, max_size=4) | st.tuples(inner),
    max_leaves=12,
)


@given(values)
def test_any_value_has_a_short_line_without_secrets(value):
    text = one_line("value", value)
    assert len(text) <= WIDTH
    assert len(text.splitlines()) <= 1
    assert SECRET not in text
    assert type_name(value)
    assert isinstance(size(value), str)


class Counted(set):
    read = 0

    def __iter__(self):
        for item in super().__iter__():
            self.read += 1
            yield item


def test_only_the_first_items_are_read():
    numbers = Counted(range(100_000))
    assert one_line("value", numbers).startswith("[0, 1, 2, ")
    assert numbers.read <= ITEMS + 1
