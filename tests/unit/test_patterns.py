"""Every regular expression of the package is measured on texts that are hard for it."""

import re

import pytest

from benchmarks.bench_patterns import MOST, growth, measured
from benchmarks.patterns import Pattern, hard_texts, patterns, sites


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


QUADRATIC = [
    re.compile(r"^\s*%\w+[ \t]+submit\b", re.MULTILINE),
    re.compile(r"the element <([a-z][\w-]*).*?, line (\d+)", re.DOTALL),
    re.compile(r"(\w[\w.\-]*+)\s*:\s*[\w.|\[\] ]+=\s*(\"[^\"]*\")"),
    re.compile(r"<section [^>]*>.*?</section>", re.DOTALL),
]


@pytest.mark.trust
@pytest.mark.parametrize("pattern", QUADRATIC)
def test_a_pattern_that_takes_quadratic_time_is_found(pattern: "re.Pattern[str]"):
    assert growth(Pattern("here:1", pattern, frozenset({"search"})), "search")[0] > MOST


@pytest.mark.trust
def test_no_pattern_takes_more_than_linear_time():
    count, worst, failed = measured()
    assert count > 200
    assert failed == [], f"the worst grows by {worst:.1f} on 8 times the text"
