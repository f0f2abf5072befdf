"""The counter of a lab's budget, which notebooks share."""

import subprocess
import sys

import pytest

from agent_nb.classroom.budget import BudgetCounter
from agent_nb.core.errors import ConfigError

RECORD = """
import sys
from pathlib import Path
from agent_nb.classroom.budget import BudgetCounter
for number in range(15):
    BudgetCounter(Path(sys.argv[1])).record(f"{sys.argv[2]}-{number}", 0.25)
"""


@pytest.fixture(autouse=True)
def own_data(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_a_run_counts_once_however_often_it_is_recorded(tmp_path):
    counter = BudgetCounter(tmp_path / "Übung 三" / "lab.toml")
    assert counter.total() == 0
    assert counter.record("a", 0.25) == 0.25
    assert counter.record("b", 0.5) == 0.75
    assert counter.record("a", 1.0) == 1.5
    assert BudgetCounter(tmp_path / "Übung 三" / "lab.toml").total() == 1.5
    assert BudgetCounter(tmp_path / "other" / "lab.toml").total() == 0


def test_two_notebooks_at_once_lose_nothing(tmp_path):
    lab = tmp_path / "lab.toml"
    notebooks = [subprocess.Popen([sys.executable, "-c", RECORD, str(lab), name]) for name in ("one", "two")]
    assert [notebook.wait(60) for notebook in notebooks] == [0, 0]
    assert BudgetCounter(lab).total() == 7.5


def test_a_damaged_counter_and_a_folder_that_cannot_be_written_are_said(tmp_path, monkeypatch):
    counter = BudgetCounter(tmp_path / "lab.toml")
    counter.record("a", 1)
    for content in ("{", "[]", "[" * 100_000, '{"costs": 3}', '{"costs": {"a": "much"}}'):
        counter.path.write_text(content)
        with pytest.raises(ConfigError, match="are damaged"):
            counter.total()
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(ConfigError, match="cannot be counted in"):
        BudgetCounter(tmp_path / "lab.toml").record("a", 1)
