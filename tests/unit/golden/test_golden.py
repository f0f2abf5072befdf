"""Requests, help and saved runs are what they were when the golden files were written."""

from collections.abc import Iterable

import pytest

from tests.support.wire.cases import CASE
from tests.unit.golden.compared import difference, read
from tests.unit.golden.requests import record, unpacked
from tests.unit.golden.shown import changes, forms, help_texts


def check(differences: Iterable[str]) -> None:
    if found := "\n\n".join(filter(None, differences)):
        pytest.fail(found, pytrace=False)


@pytest.mark.parametrize("protocol", CASE)
def test_requests_are_unchanged(protocol, tmp_path):
    then, (now, fingerprints) = unpacked(read(f"{protocol}.txt")), record(protocol, tmp_path)
    assert [*then] == [*now]
    check(difference(name, then[name], now[name]) for name in now if then[name] != now[name])
    assert fingerprints == read("fingerprints.json")[protocol]


def test_help_is_unchanged(tmp_path):
    texts = help_texts(tmp_path).items()
    check(difference(name, read(name).splitlines(), text.splitlines()) for name, text in texts)


@pytest.mark.usefixtures("short_fragments")
def test_saved_runs_are_unchanged():
    then, now = read("recordings.json"), forms()
    assert [*then] == [*now]
    check(changes(what, then[what], text) for what, text in now.items())
