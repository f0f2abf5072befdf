"""Text as it is shown where a user decides. The page does the same: `js/test/printable.test.ts` reads the table."""

import json
import re
import unicodedata
from pathlib import Path

import pytest

from agent_nb._base.secrets import shortened
from agent_nb._base.text import TextBuffer, printable

TABLE = json.loads(Path("tests/support/printable.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "shown"), TABLE["cases"])
def test_writes_out_what_cannot_be_seen(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize("text", [text for text, _ in TABLE["cases"]])
def test_shows_different_texts_differently(text: str) -> None:
    read = re.sub(r"<U\+([0-9A-F]{4,6})>", lambda code: chr(int(code[1], 16)), printable(text, keep=""))
    assert read == text


def test_keeps_only_what_it_is_told() -> None:
    assert printable("a\n\tb", keep="") == "a<U+000A><U+0009>b"


def test_writes_out_every_character_of_the_table_and_no_other() -> None:
    ranges = [[int(end, 16) for end in each.split("-")] for each in TABLE["hidden"]]
    hidden = {code for ends in ranges for code in range(ends[0], ends[-1] + 1)}
    for plane in range(17):
        every = [code for code in range(plane << 16, plane + 1 << 16) if code != ord("\n")]
        lines = printable("\n".join(map(chr, every))).split("\n")
        written = {code for code, line in zip(every, lines, strict=True) if line != chr(code)}
        assert written == hidden & set(every)
        shown = set(every) - hidden - {ord("\t")}
        assert {unicodedata.category(chr(code)) for code in shown} & {
            "Cc",
            "Cs",
            "Zl",
            "Zp",
            "Co",
            "Cf",
        } == set()


@pytest.mark.parametrize(
    ("text", "shown"), [("", ""), ("abcd", "abcd"), ("abcde", "abc…"), ("a" * 99, "aaa…")]
)
def test_a_shortened_text_is_not_longer_than_the_limit(text: str, shown: str) -> None:
    assert shortened(text, 4) == shown


@pytest.mark.parametrize("text", ["", "é", "a" * 40_000, "€" * 32_767 + "😀\ud83d", "\udc00" + "b" * 70_000])
def test_a_buffer_equals_its_own_text_alone(text: str) -> None:
    buffer = TextBuffer()
    buffer.add(text)
    assert buffer.equals(text)
    others = {f"{text}a", f"a{text}", f"{text[:-1]}ö", text[:-1]} - {text}
    assert not any(map(buffer.equals, others))
