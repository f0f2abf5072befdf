"""The ladder goes on after a try of one's own, and a restarted kernel goes on from there."""

import json

import pytest

from agent_nb.lab.hints.ladder import Ladder


@pytest.fixture
def new_ladder(tmp_path):
    """Reads the ladder as a new kernel would."""

    def make(steps=(), notebook="a.ipynb", path=tmp_path / ".agent_nb" / "hints.json") -> Ladder:
        return Ladder(path, lab=tmp_path / "lab.toml", notebook=notebook, steps=steps)

    return make


def climb(ladder: Ladder, *inputs: str, name: str = "hero", given=()) -> str:
    place = ladder.place(name, inputs)
    assert ladder.record(name, place, given) == ""
    return f"{place.step}{' again' if place.is_again else ''}"


def test_the_next_step_comes_after_new_code(new_ladder):
    ladder = new_ladder()
    assert climb(ladder, "x = 1") == "question"
    assert climb(ladder, "x = 1") == "question again"
    assert climb(ladder, "x = 1", "# a comment\n\nx = 1   ") == "question again"
    assert climb(ladder, "x = 1", "x = 2") == "pointer"
    assert climb(ladder, "x = 1", "x = 2", "x = 1") == "pointer again"
    assert climb(ladder, "x = 3") == "partial"
    assert climb(ladder, "x = 4") == "partial"
    assert climb(ladder, "x = 4", name="other") == "question"


def test_a_restart_neither_resets_nor_skips(new_ladder):
    climb(new_ladder(), "import pandas", "x = 1")
    assert climb(new_ladder()) == "question again"
    assert climb(new_ladder(), "import pandas") == "question again"
    assert climb(new_ladder(), "import pandas", "x = 2") == "pointer"
    assert climb(new_ladder(notebook="b.ipynb"), "x = 3") == "question"
    assert new_ladder().steps_so_far() == {"hero": "2 of 3 (pointer)"}


def test_code_that_was_given_counts_until_the_next_try(new_ladder):
    climb(new_ladder(), "x = 1", given={"a", "b"})
    assert new_ladder().place("hero", ["x = 1"]).given == {"a", "b"}
    assert not new_ladder().place("hero", ["x = 2"]).given


def test_the_sentences(new_ladder):
    ladder = new_ladder(steps=("pointer", "partial"))
    first = ladder.place("hero", [])
    assert str(first) == "Hint 1 of 2: a pointer. Change and run your own code for the next hint."
    ladder.record("hero", first, ())
    assert str(ladder.place("hero", [])).startswith("Hint 1 of 2 again: a pointer. You have run no new code")
    last = ladder.place("hero", ["x = 1"])
    assert str(last) == "Hint 2 of 2: a part of the solution. This is the last step."


def test_the_steps_of_the_lab_may_change(new_ladder):
    climb(new_ladder(), "x = 1")
    climb(new_ladder(), "x = 2")
    assert climb(new_ladder(steps=("question", "partial")), "x = 3") == "partial"
    assert climb(new_ladder(steps=("pointer",)), "x = 4") == "pointer"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"x": 3}', "null"])
def test_a_damaged_file_begins_at_the_first_step(new_ladder, tmp_path, content):
    climb(new_ladder(), "x = 1")
    (tmp_path / ".agent_nb" / "hints.json").write_text(content)
    assert climb(new_ladder(), "x = 2") == "question"
    lab = str(tmp_path / "lab.toml")
    for entry in (3, {"step": 1}, {"step": "pointer", "tries": 3, "given": []}):
        (tmp_path / ".agent_nb" / "hints.json").write_text(json.dumps({lab: {"a.ipynb": {"hero": entry}}}))
        assert climb(new_ladder(), "x = 3") == "question"


def test_a_folder_that_cannot_be_written_is_said(new_ladder, tmp_path):
    (tmp_path / "file").touch()
    ladder = new_ladder(path=tmp_path / "file" / "hints.json")
    problem = ladder.record("hero", ladder.place("hero", ["x = 1"]), ())
    assert problem.startswith("The step of the hints is not saved.")
