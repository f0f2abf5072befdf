"""Secrets in a text that arrives in pieces are masked, wherever it is cut."""

import html
import json
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb._base.secrets import MASK, StreamMasker, mask, register, registered

KEY = "sk-ant-api03-" + "x9-Y" * 8
KNOWN = "hunter2-the-fourth"
STREAMED = (
    f"A desk-organisation-for-everybody, {KNOWN[:9]}r; mine: {KNOWN}\n{KEY}, Bearer {KEY}. "
    f"github_pat_{'a1' * 12} and ta\u2028sk-is {KNOWN[:6]}"
)


def streamed(text: str, cuts: list[int]) -> tuple[str, str]:
    """What is released of the text in these pieces, and what is held back."""
    masker = StreamMasker()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    released = "".join(masker.more(text[start:end]) for start, end in pairwise(places))
    return released, masker.held


def without_heads(text: str) -> str:
    """A piece may end within the first letters of a secret, which then stand before its mask."""
    for secret in (KNOWN, KEY, "github_pat_"):
        for length in range(len(secret), 0, -1):
            text = text.replace(secret[:length] + MASK, MASK)
    return text


@given(st.lists(st.integers(0, 260), max_size=12))
def test_a_stream_is_masked_across_its_cuts(cuts: list[int]):
    register(KNOWN)
    released, held = streamed(STREAMED, cuts)
    assert without_heads(released + held) == mask(STREAMED)
    assert KEY[3:] not in released
    assert KNOWN[4:] not in released


@given(st.lists(st.integers(0, 260), max_size=12), st.integers(0, 260))
def test_what_is_held_back_depends_on_the_text_alone(cuts: list[int], length: int):
    register(KNOWN)
    text = STREAMED[:length]
    assert streamed(text, cuts)[1] == streamed(text, [])[1] == streamed(text, list(range(length)))[1]


def test_plain_text_is_never_held_back():
    assert streamed("Words, as they come: these", [3, 4, 9]) == ("Words, as they come: these", "")


def test_a_key_without_an_end_is_released():
    text = "eyJ" + "a1b2" * 1000
    assert streamed(text, list(range(0, 4000, 7))) == (text, "")


def test_the_rest_of_a_stream_is_masked():
    masker = StreamMasker()
    assert (masker.more(f"It is {KEY}"), masker.rest(), masker.rest()) == ("It is sk", MASK, "")


LINES = ["MIIEvQq7W2x9YbU8Xr3Tn1Qw" + letter * 40 for letter in "ABCD"]
OF_SEVERAL_LINES = "\n".join(["-----BEGIN PRIVATE KEY-----", *LINES, "-----END PRIVATE KEY-----"])


@given(st.sampled_from(["\n", " ", "\\n", "\\\\n", "\r\n", ""]), st.lists(st.integers(0, 400), max_size=12))
def test_a_secret_of_several_lines_is_masked_in_a_stream(newline: str, cuts: list[int]):
    before = set(registered)
    register(OF_SEVERAL_LINES)
    try:
        released, held = streamed(f"Mine: {OF_SEVERAL_LINES.replace(chr(10), newline)}. Yours?", cuts)
    finally:
        registered.intersection_update(before)
    assert (released + held).endswith(". Yours?")
    assert not [line for line in LINES if line[4:] in released + held]


QUOTED = """p/s's "w&rd é+<7>"""
FORMS = {
    "url": lambda text: quote(text, safe=""),
    "entities": lambda text: "".join(f"&#{ord(each)};" for each in text),
    "json": lambda text: json.dumps(json.dumps(text)),
    "html in json": lambda text: json.dumps(html.escape(text)),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_escaped_secret_is_masked_wherever_a_stream_is_cut(form: str):
    register(QUOTED)
    for cut in range(160):
        check_escaped(form, [cut])


@given(st.sampled_from(list(FORMS)), st.lists(st.integers(0, 160), max_size=12))
def test_an_escaped_secret_is_masked_in_a_stream_of_many_pieces(form: str, cuts: list[int]):
    register(QUOTED)
    check_escaped(form, cuts)


def check_escaped(form: str, cuts: list[int]) -> None:
    released, held = streamed(f"Mine: {FORMS[form](QUOTED)}. Yours?", cuts)
    whole = released + held
    assert whole.endswith((". Yours?", '\\"". Yours?', '". Yours?'))
    assert MASK in whole
    for tail in ("%3C7%3E", "&#60;&#55;", "<7>", "&lt;7"):
        assert tail not in whole
