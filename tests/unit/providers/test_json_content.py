"""A body is encoded in chunks, into what `json.dumps` would write."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.providers.json_content import content, content_length

WORDS = st.text(st.characters(exclude_categories=["Cs"]))
LONG = st.builds(str.__mul__, st.text('aé\u4e2d🥐"\\\n\x1f', min_size=1, max_size=9), st.integers(900, 9000))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS
    | LONG,
    lambda inner: st.lists(inner) | st.dictionaries(WORDS | st.integers(), inner) | st.tuples(inner, inner),
    max_leaves=12,
)


async def encoded(body: dict[str, Any]) -> bytes:
    chunks = [chunk async for chunk in content(body)]
    assert content_length(body) == sum(map(len, chunks))
    return b"".join(chunks)


@given(st.dictionaries(WORDS, VALUES))
async def test_it_is_what_json_dumps_writes(body: dict[str, Any]):
    assert await encoded(body) == json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


async def test_half_a_character_is_replaced():
    assert json.loads(await encoded({"a": "x\ud83d"})) == {"a": "x\ufffd"}


async def test_what_is_not_json_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        content_length({"temperature": float("nan")})


async def test_a_page_is_never_in_memory_as_a_whole_again():
    body = {"messages": [{"content": "Grüße, 中文\n" * 100_000}]}
    length = content_length(body)
    tracemalloc.start()
    async for _ in content(body):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < length / 5
