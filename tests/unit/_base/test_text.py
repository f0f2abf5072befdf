"""Text as it is shown where a user decides."""

import unicodedata

import pytest

from agent_nb._base.text import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls\rrm", r"ls\rrm"),
        ("\x1b[2K\x9b\x00", r"\x1b[2K\x9b\x00"),
        ("a\u202eb\u2066\u200b\ufeff", r"a\u202eb\u2066\u200b\ufeff"),
        ("a\u2028b\x85c\x0cd", r"a\u2028b\x85c\x0cd"),
        ("\u3164 = 1", r"\u3164 = 1"),
        ("x\U000e0041\U000e0100", r"x\U000e0041\U000e0100"),
        ("half \ud83d", r"half \ud83d"),
        ("a\u00a0b", r"a\xa0b"),
        ("naïve\n\t日本語 🙂", "naïve\n\t日本語 🙂"),
    ],
)
def test_writes_out_what_shows_no_glyph(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_keeps_only_what_it_is_told() -> None:
    assert printable("a\n\tb", keep="") == r"a\n\tb"


def test_no_character_of_unicode_moves_or_hides_others() -> None:
    shown = printable("".join(map(chr, range(0x110000))), keep="")
    assert not {unicodedata.category(each) for each in set(shown)} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
