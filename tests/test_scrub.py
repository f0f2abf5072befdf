"""Secrets leave nothing behind but a mask."""

import pytest

from agent_nb.scrub import MASK, register, scrub, scrub_json


def test_a_known_value_is_masked_anywhere():
    register("hunter2-the-second")
    assert scrub("key=hunter2-the-second;") == f"key={MASK};"


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-" + "aB3_" * 10,
        "sk-ant-api03-" + "x9-Y" * 8,
        "sk-or-v1-" + "0f" * 20,
        "AIza" + "Sy7_-b" * 6,
        "gsk_" + "q1W2" * 8,
        "hf_" + "abCD" * 6,
        "ghp_" + "abCD12" * 6,
        "AKIA" + "ABCDEFGH12345678",
        "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIx" + "." + "c2lnbmF0dXJl",
    ],
)
def test_a_key_shaped_string_is_masked(key: str):
    assert scrub(f"Incorrect key provided: {key}.") == f"Incorrect key provided: {MASK}."


def test_a_bearer_header_keeps_its_word():
    assert scrub("authorization: Bearer abc.def-123456") == f"authorization: Bearer {MASK}"


@pytest.mark.parametrize(
    "text", ["", "A plain sentence.", "task-list and risk-free", "sk-short", "the hf_ prefix"]
)
def test_plain_text_is_the_same_object(text: str):
    assert scrub(text) is text


def test_a_short_value_is_not_a_secret():
    register("none")
    assert scrub("There is none.") == "There is none."


def test_every_string_of_a_value_is_scrubbed():
    register("hunter2-the-third")
    value = {"a": ["hunter2-the-third", 1, None, {"hunter2-the-third": True}]}
    assert scrub_json(value) == {"a": [MASK, 1, None, {MASK: True}]}


def test_data_that_looks_like_a_key_stays():
    data = "iVBO" * 200 + "/AIza" + "Sy7b" * 9 + "AAAA" * 10 + "=="
    assert scrub(data) is data
    assert MASK in scrub(f"{data} AIza{'Sy7b' * 9}")


def test_a_known_value_is_masked_in_data_too():
    register("abcdEFGH1234abcdEFGH")
    assert MASK in scrub("iVBO" * 200 + "abcdEFGH1234abcdEFGH")
