"""Every regular expression of the package is measured by `make bench BENCH=patterns`."""

import re

import pytest

from benchmarks.patterns import hard_texts, patterns, sites


def test_every_pattern_of_the_package_is_measured():
    found, unknown = patterns()
    assert not unknown, "give an example of their local names in benchmarks/patterns.py"
    assert {pattern.place for pattern in found} == {site.place for site in sites()}
    assert len(found) > 200


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\s+$", " " * 200),
        (r"(?:a|b)*c", "a" * 200),
        (r"\w[\w.]*=", "." * 200),
        (r"/\*.*?\*/", "/*a" * 60),
        (r"\[.*?\]", "[" * 200),
    ],
)
def test_what_a_pattern_repeats_is_tried(pattern: str, text: str):
    assert any(text in hard for hard in hard_texts(re.compile(pattern), 200))
