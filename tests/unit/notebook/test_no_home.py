"""A container's user may have neither a HOME nor an entry in the list of users."""

import pwd

import pytest

from agent_nb._base.user_file import UserFile


@pytest.fixture(autouse=True)
def no_home(monkeypatch):
    def no_entry(uid):
        raise KeyError(uid)

    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", no_entry)


@pytest.mark.parametrize("agents_md", ["", "Write short answers."])
def test_a_cell_runs(shell, tmp_path, agents_md):
    (tmp_path / "AGENTS.md").write_text(agents_md)
    cell = shell.run("%%agent hero -m demo: --pace 0\nA form")
    assert cell.ok, cell.stderr
    assert shell.names["hero"].reason == "end_turn"


def test_tables_are_listed_and_a_path_below_it_is_not_found(shell):
    assert shell.run("%agent models").ok
    assert "no saved run '~/x'" in shell.run("%agent load ~/x").stderr
    assert "'~/x.png' cannot be read" in shell.run("%%agent -m demo: -i ~/x.png\nLike this").stderr


def test_costs_that_cannot_be_counted_are_a_sentence(shell, tmp_path):
    (tmp_path / "lab.toml").write_text("[lab]\nbudget = 1.0\n")
    cell = shell.run("%%agent hero -m demo:\nA form")
    assert "cannot be counted: this user has no home folder" in cell.stderr, cell.error


def test_what_is_stored_lasts_for_the_session():
    file = UserFile("x.json", "allowed")
    file.store("key", {"a": 1})
    assert file.entries() == {"key": {"a": 1}}
