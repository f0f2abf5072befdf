"""Saved runs from somewhere else: what cannot be shown is not loaded, and no name leads out of a folder."""

import contextlib
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from agent_nb import Agent, Run, load, tool
from agent_nb._base.constants import CHECK_TYPE, NAMES_TYPE
from agent_nb.core.errors import ConfigError, SavedRunError
from agent_nb.core.messages import Usage
from agent_nb.providers.scripted import ScriptedProvider, call, text, think
from agent_nb.run.replay_file import replay_html
from agent_nb.tools.base import ToolOutput
from tests.support.mutations import mutated
from tests.support.scripts import write

CASSETTES = Path(__file__).parents[3] / "notebooks" / "cassettes"


async def lesson(name: str) -> Run:
    return load(CASSETTES / f"{name}.run.jsonl")


async def scripted() -> Run:
    turns = [
        [think("So."), write(), call("nope", {})],
        [call("read_file", {"path": "index.html"})],
        [text("Done.")],
    ]
    one = await Agent(ScriptedProvider(turns)).run("A page", files={"a.bin": b"\xff"})
    return (
        replace(one, variants=(one, one))
        .annotate("end", "A note", ask="Why?", choices=["a", "b"])
        .with_files({"notes.txt": "mine"})
    )


def show(run: Run) -> None:
    """Everything that makes something of a run."""
    for part in (run, *run.variants):
        assert part._repr_mimebundle_()
        assert part.to_html()
        assert part.to_markdown()
        assert repr(part)
        dict(part.files)
        for value in (part.text, part.thinking, part.tool_uses, part.checks, part.manifest, part.unfinished):
            assert value is not None
        with contextlib.suppress(ConfigError):  # says which turn or event is missing
            assert replay_html(part)


@pytest.mark.parametrize("made", ["order", "poster", "scripted"])
async def test_a_damaged_run_is_refused_or_can_be_shown(made, tmp_path):
    run = await (scripted() if made == "scripted" else lesson(made))
    file = run.save(tmp_path / "run.jsonl")
    whole = [json.loads(line) for line in file.read_text().splitlines()]
    chance, refused = random.Random(made), 0
    for _ in range(20):
        file.write_text("\n".join(map(json.dumps, mutated(whole, chance))))
        try:
            loaded = load(file)
        except SavedRunError as error:
            refused += str(file) in str(error)
        else:
            show(loaded)
    assert 2 < refused < 20


NAMES = {"bound": ["x"], "changed": [], "deleted": [], "code": "x = 1"}


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ({NAMES_TYPE: 3}, "it is 3, not an object"),
        ({NAMES_TYPE: {}}, "it lacks `bound`"),
        ({NAMES_TYPE: {**NAMES, "kinds": [1]}}, "`kinds` is a list"),
        ({NAMES_TYPE: {**NAMES, "deleted": [[]]}}, r"`deleted\[0\]` is a list"),
        ({CHECK_TYPE: None}, "it is null"),
        ({CHECK_TYPE: {"screenshots": [{"width": 390}]}}, r"`screenshots\[0\]` lacks `height`"),
    ],
)
async def test_outputs_whose_form_the_package_relies_on_are_refused_if_it_is_damaged(output, why, tmp_path):
    @tool
    def run_python(code: str) -> ToolOutput:
        return ToolOutput(text="Done.", outputs=(output,))

    script = [[call("run_python", {"code": "x = 1"})], [text("Done.")]]
    run = await Agent(ScriptedProvider(script), tools=[run_python]).run("go")
    file = run.save(tmp_path / "run.jsonl")
    with pytest.raises(SavedRunError, match=f"damaged at line .*: {why}"):
        load(file)


@pytest.mark.parametrize("field", ["name", "id", "key"])
@pytest.mark.parametrize("word", ["../../x", "a/b", "..", "C:x", "a\nb", "x\\y"])
async def test_a_name_that_leads_out_of_a_folder_is_refused(field, word, tmp_path):
    run = await scripted()
    for number, odd in enumerate(
        (replace(run, **{field: word}), replace(run, variants=(replace(run, **{field: word}),)))
    ):
        with pytest.raises(
            SavedRunError, match=f"damaged at line .*: `{field}` is .*, which is not a valid name"
        ):
            load(odd.save(tmp_path / f"{number}.run.jsonl"))


async def test_variants_of_other_prices_and_names_load_as_they_were(tmp_path):
    run = await scripted()
    for number, one in enumerate(
        (run, run.pick(2), replace(run, usage=Usage(input=7), cost=2.5, name="hero"))
    ):
        assert load(one.save(tmp_path / f"{number}.run.jsonl")) == one
