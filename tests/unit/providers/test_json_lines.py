"""The reader of JSON lines gives the same events however the bytes are cut."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agent_nb.providers.json_lines import JsonLinesReader

_values = st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=9), max_size=3), max_size=6)


@given(
    values=_values,
    sizes=st.lists(st.integers(1, 7), min_size=1),
    ending=st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_lines_may_be_cut_anywhere(values, sizes, ending):
    sent = "".join(json.dumps(value, ensure_ascii=False) + ending for value in values).encode()
    reader, found, at = JsonLinesReader(), [], 0
    while at < len(sent):
        size = sizes[at % len(sizes)]
        found += reader.feed(sent[at : at + size])
        at += size
    assert [(name, json.loads(data)) for name, data in found] == [("", value) for value in values]


def test_a_line_that_is_cut_short_is_not_delivered():
    reader = JsonLinesReader()
    assert reader.feed(b'{"a": 1}\n{"b": ') == [("", b'{"a": 1}')]
    assert reader.feed(b"2") == []
