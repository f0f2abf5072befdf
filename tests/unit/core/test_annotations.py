"""Notes and questions at moments of a run."""

from dataclasses import replace

import pytest

from agent_nb import Agent, Run, load
from agent_nb.core.errors import ConfigError, SavedRunError
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.run.moments import MOST_ANNOTATIONS
from agent_nb.run.replay_file import replay_html
from tests.support.cassettes import change_row

WRITE = call("create_file", {"path": "index.html", "content": "<h1>Hi</h1>"})
EDIT = call("edit_file", {"path": "index.html", "old": "Hi", "new": "Ho"})
MOMENTS = r"it has 0 to \d\.\d \(seconds\), 'turn 1' to 'turn 3', 'change 1' to 'change 2' and 'end'\.$"


@pytest.fixture(scope="module")
def run() -> Run:
    with ScriptedProvider([[WRITE], [EDIT], [text("Done.")]]) as provider:
        made = Agent(provider).run_sync("go", files={"given.css": "p{}"})
    return replace(
        made, events=tuple(replace(event, at=index / 10) for index, event in enumerate(made.events))
    )


def moments(run: Run) -> list[float | str]:
    return [annotation.at for annotation in run.annotations]


def test_a_note_makes_a_new_run(run: Run):
    noted = run.annotate("turn 2", "Look at **this**.")
    assert run.annotations == ()
    (note,) = noted.annotations
    assert (note.at, note.text, note.ask) == ("turn 2", "Look at **this**.", "")
    assert noted.files == run.files


def test_notes_are_in_the_order_of_the_run(run: Run):
    noted = run
    for at in ("end", "change 2", "turn 2", "change 1", 0, "turn 1", "end"):
        noted = noted.annotate(at, str(at))
    assert moments(noted) == [0.0, "turn 1", "change 1", "turn 2", "change 2", "end", "end"]
    assert [note.text for note in noted.annotations][-2:] == ["end", "end"]


def test_a_time_may_be_rounded_as_the_page_shows_it(run: Run):
    end = run.events[-1].at
    assert moments(run.annotate(end + 0.04, "x")) == [end]


@pytest.mark.parametrize(
    "at", ["turn 4", "change 0", "change 3", "turn", "", 99, -0.1, float("nan"), True, None, [1], "turn ٢"]
)
def test_a_moment_that_does_not_exist_is_refused(run: Run, at):
    with pytest.raises(ConfigError, match=r"^There is no moment .* in this run: " + MOMENTS):
        run.annotate(at, "x")


def test_the_expected_answer_is_a_number_or_a_text(run: Run):
    ask = {"ask": "What next?", "choices": ["It stops", "It edits"]}
    expected = [run.annotate("end", **ask, answer=answer) for answer in (2, "It edits", None)]
    assert [one.annotations[0].answer for one in expected] == ["It edits", "It edits", ""]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "needs a `text`, a question to `ask`, or both"),
        ({"text": " \n"}, "needs a `text`"),
        ({"text": 5}, "`text` must be text, not a value of type int"),
        ({"text": "x" * 5001}, "`text` has 5,001 characters; the most is 5,000"),
        ({"ask": "x" * 501, "choices": ["a", "b"]}, "`ask` has 501 characters"),
        ({"text": "x", "choices": ["a", "b"]}, "`choices` and `answer` need a question"),
        ({"text": "x", "answer": "a"}, "`choices` and `answer` need a question"),
        ({"ask": "q", "choices": "ab"}, "`choices` is a list such as"),
        ({"ask": "q", "choices": 5, "answer": 1}, "`choices` is a list such as"),
        ({"ask": "q", "choices": ["a"]}, "2 to 10 choices; this one has 1"),
        ({"ask": "q", "choices": list(map(str, range(5000)))}, "2 to 10 choices"),
        ({"ask": "q", "choices": ["a", 2]}, "`choices` must be text"),
        ({"ask": "q", "choices": ["a", " "]}, "is empty"),
        ({"ask": "q", "choices": ["a", "a"]}, "are the same"),
        ({"ask": "q", "choices": ["a", "x" * 301]}, "the most is 300"),
        ({"ask": "q", "choices": ["a", "b"], "answer": 0}, "no choice 0; the question has 1 to 2"),
        ({"ask": "q", "choices": ["a", "b"], "answer": "c"}, "`answer` is not one of the 2 choices"),
        ({"ask": "q"}, 'needs answers to choose from: `choices=\\["It edits the page", "It stops"\\]`'),
        ({"ask": "q", "choices": [], "answer": "Because"}, "needs answers to choose from"),
        ({"ask": "q", "choices": ["a", "b"], "answer": "x" * 5001}, "`answer` has 5,001 characters"),
    ],
)
def test_a_note_that_makes_no_sense_is_refused(run: Run, fields, why):
    with pytest.raises(ConfigError, match=why):
        run.annotate("end", **fields)


def test_the_number_of_notes_is_bounded(run: Run):
    many = run.annotate("end", "x").annotations * MOST_ANNOTATIONS
    with pytest.raises(ConfigError, match="at most 200 notes"):
        replace(run, annotations=many).annotate("end", "one more")


def test_a_variant_keeps_the_notes_of_all(run: Run):
    other = replace(run, events=tuple(replace(event, variant=1) for event in run.events))
    both = replace(run, variants=(run, other)).annotate("turn 1", "one").pick(2).annotate("turn 3", "two")
    assert [(note.variant, note.text) for note in both.annotations] == [(0, "one"), (1, "two")]
    assert both.pick(1).annotations == both.annotations


def test_a_run_without_events_has_no_place_for_notes(run: Run):
    with pytest.raises(ConfigError, match="in this run: it has no events"):
        replace(run, events=()).annotate("end", "x")


def test_notes_are_saved_with_the_run(run: Run, tmp_path):
    key = "sk-ant-api03-" + "x9-Y" * 8
    noted = run.annotate(0.25, f"{key} \u202e").annotate("end", ask="q", choices=("a", "b"), answer=1)
    noted = noted.annotate("end", ask="Which?", choices=[key, f"{key}{key}"])
    path = noted.save(tmp_path / "hero.run.jsonl")
    assert key not in path.read_text("utf-8")
    assert load(path).annotations == (
        replace(noted.annotations[0], text="••• \u202e"),
        noted.annotations[1],
        replace(noted.annotations[2], choices=("•••", "•••")),
    )


def test_a_saved_question_without_choices_is_a_note(run: Run, tmp_path):
    path = run.annotate("end", "x").save(tmp_path / "hero.run.jsonl")
    change_row(path, "end", annotations=[{"at": "end", "ask": "Why?", "answer": "Because"}])
    older = load(path)
    assert [(note.ask, note.choices) for note in older.annotations] == [("Why?", ())]
    assert all("Why?" in document for document in (older.to_html(), replay_html(older)))


@pytest.mark.parametrize("change", [{"at": "turn 9"}, {"text": 5}, {"choices": 5}, {"variant": 3}])
def test_a_saved_note_that_makes_no_sense_is_refused(run: Run, tmp_path, change):
    path = run.annotate("end", "x").save(tmp_path / "hero.run.jsonl")
    change_row(path, "end", annotations=[{"at": "end", "text": "x", **change}])
    with pytest.raises(SavedRunError, match="is damaged"):
        load(path)
