"""A lab file that is written, edited and removed while a kernel runs."""

import pytest

from agent_nb.errors import ConfigError
from agent_nb.lab.rules import LabWatch


def test_a_lab_file_is_read_again_when_it_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    watch, file = LabWatch(tmp_path), tmp_path / "lab.toml"

    def announced() -> str:
        return watch.announce(watch.rules(), "%agent lab")

    assert watch.rules() is None
    file.write_text('[lab]\ntitle = "Woche 3"\nbudget = 1')
    assert announced() == "This notebook follows the rules of lab.toml: Woche 3. `%agent lab` shows them."
    assert announced() == ""
    file.write_text('[lab]\ntitle = "Woche 3"\nbudget = 2\nmode = "off"')
    assert announced() == "lab.toml has changed (budget, mode). `%agent lab` shows the rules."
    file.write_text("[lab]\nbudgte = 2")
    for _ in range(2):
        with pytest.raises(ConfigError, match="Did you mean `budget`"):
            watch.rules()
    file.unlink()
    assert watch.rules() is None


def test_a_file_above_the_notebook_is_named_with_its_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "week 3").mkdir()
    (tmp_path / "lab.toml").write_text('[lab]\nmode = "off"')
    with pytest.raises(ConfigError) as caught:
        LabWatch(tmp_path / "week 3").rules().check_open()
    assert str(caught.value).endswith(f"(`mode` in {tmp_path.resolve() / 'lab.toml'})")
