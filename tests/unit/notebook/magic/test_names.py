"""The variables NAME and `files`, `%agent undo` and `%agent load`."""

from dataclasses import replace

import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.notebook.magic.names import check_name, set_variables
from tests.support.shells import quick_run

CELL = "%%agent hero -m demo: --pace 0 --plain"


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("1x", "class", "a-b", "_hidden", "a.b", ""), "is not a valid name"),
        (("print", "list", "Out", "get_ipython", "display"), "would hide"),
    ],
)
def test_a_name_is_an_identifier_and_hides_no_builtin(names, why):
    for name in names:
        with pytest.raises(ConfigError, match=why):
            check_name(name, {})


def test_a_module_is_not_overwritten():
    with pytest.raises(ConfigError, match="`json_run`"):
        check_name("json", {"json": pytest})
    assert check_name("json", {"json": 3}) == "json"


def test_files_of_the_user_are_not_replaced(shell):
    first, second = replace(quick_run(), name="one"), replace(quick_run("A game"), name="two")
    assert set_variables(shell.session, first) == "files"
    assert set_variables(shell.session, second) == "files"
    assert shell.names["files"] is second.files
    shell.names["files"] = mine = ["mine"]
    assert set_variables(shell.session, first) is None
    assert shell.names["files"] is mine
    assert shell.names["one"] is first


def test_the_name_of_the_files_can_be_chosen(shell):
    run = replace(quick_run(), name="hero")
    shell.magics.files_name = "pages"
    assert set_variables(shell.session, run) == "pages"
    assert shell.names["pages"] is run.files
    for name in ("", "hero"):
        shell.magics.files_name = name
        assert set_variables(shell.session, run) is None
        assert shell.names["hero"] is run


def test_undo_goes_back_run_by_run(shell):
    for prompt in ("A form", "A game", "A page for a bakery"):
        shell.run(f"{CELL}\n{prompt}")
    newest = shell.names["hero"]
    printed = shell.run("%agent undo hero").stdout
    assert printed.startswith("Restored the previous run to `hero`: 'A game', index.html.\n")
    assert shell.names["files"] is shell.names["hero"].files
    assert shell.run("%agent undo hero").ok
    assert shell.names["hero"].prompt == "A form"
    assert not shell.run("%agent undo hero").ok
    assert shell.run(printed.split("`")[-2]).ok
    assert shell.names["hero"] == newest


def test_loading_says_what_it_replaces_and_undo_brings_it_back(shell, tmp_path):
    replace(quick_run(), name="df").save(tmp_path / "x.run.json")
    mine = shell.names["df"] = {"a": 1}
    printed = shell.run("%agent load x.run.json").stdout
    assert "`df` was a value of type dict. `%agent undo df` restores it." in printed
    assert shell.names["df"].name == "df"
    assert "Restored the previous value of `df`, of type dict." in shell.run("%agent undo df").stdout
    assert shell.names["df"] is mine


def test_undo_restores_an_edited_run(shell):
    shell.run(f"{CELL}\nA form")
    shell.run("edited = hero = hero.with_files({'index.html': '<h1>Mine</h1>'})")
    shell.run(f"{CELL} --no-save\nA game")
    assert "loads the newer" not in shell.run("%agent undo hero").stdout
    assert shell.names["hero"] is shell.names["edited"]


def test_undo_reverts_a_pick(shell):
    shell.run(f"{CELL} -n 2\nA form")
    both = shell.names["hero"]
    set_variables(shell.session, both.pick(2))
    assert shell.run("%agent undo hero").ok
    assert shell.names["hero"] is both


def test_undo_works_after_a_background_run(shell):
    shell.run(f"{CELL}\nA form")
    shell.run(f"{CELL} --background\nA game")
    shell.run("await hero")
    assert shell.run("%agent undo hero").ok
    assert shell.names["hero"].prompt == "A form"


def test_only_ten_runs_are_kept_for_undo(shell):
    run = quick_run()
    for number in range(30):
        set_variables(shell.session, replace(run, name=f"run{number % 3}"))
    assert len(shell.session.replaced) == 10


def test_a_run_is_loaded_by_name_id_and_path(shell, tmp_path):
    for prompt in ("A form", "A game"):
        shell.run(f"{CELL}\n{prompt}")
    newest, older = shell.names["hero"], shell.session.replaced[-1][1]
    older.save(tmp_path / "my run.json")
    for wanted, run in (
        ("hero", newest),
        (older.id, older),
        ("my run.json", older),
        ("'my run.json'", older),
    ):
        shell.names["hero"] = None
        printed = shell.run(f"%agent load {wanted}").stdout
        assert printed == f"Loaded `hero`: {run.prompt!r}, index.html.\n"
        assert shell.names["hero"] == run
        assert shell.names["files"] == run.files


def test_a_loaded_run_must_not_hide_a_builtin(shell, tmp_path):
    replace(quick_run(), name="print").save(tmp_path / "a.json")
    cell = shell.run("%agent load a.json")
    assert "would hide Python's own" in cell.stderr
    assert "print" not in shell.names


def test_a_mistyped_name_is_corrected(shell):
    shell.run(f"{CELL}\nA form")
    assert "Did you mean `hero`?" in shell.run("%agent load her").stderr
