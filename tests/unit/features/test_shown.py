"""What features show of a run: on the page, and in its saved forms."""

import re
from dataclasses import fields, replace

import pytest

from agent_nb import load
from agent_nb.core.feature import Feature, features
from agent_nb.engine.feature_code import FeatureCode
from agent_nb.engine.parts import code_of
from agent_nb.plugins import Addition
from agent_nb.providers.scripted import text
from agent_nb.render import FORMS, bundle
from agent_nb.render.shown import shown_features
from agent_nb.run.protocol import Meta, Ready
from tests.support import ROOT
from tests.support.plugins import plugin_of
from tests.support.scripts import run_script

OF_THE_RUN = {
    *("key", "name", "model", "demo", "about", "digest", "features"),
    *("magic", "default_model", "number", "folds", "stage"),
    *("line", "variant", "picked", "paths"),
}
OTHERS = {
    "repeats again others": "they are written from the run's cell, which a run does not have",
    "failed_check": "`--check` is no feature yet",
    "network": "the page asks for it before the run has ended",
    "running_code": "it is an approval, and approvals are no feature",
    "annotations": "notes in replays are no feature yet",
    "bound connected": "bound pages are no feature yet",
    "undone": "the kernel tools are no feature yet",
    "reviewable decided fix": "changes of cells are no feature yet",
    "suggestions": "the demo is a vendor, not a feature",
}
"""Fields of `Meta` and `Ready` about some runs only, and why no feature shows them."""
KEY = "sk-proj-" + "a1B2" * 10


def test_the_page_has_the_types_of_what_features_show():
    types = (ROOT / "js" / "src" / "run" / "events.ts").read_text(encoding="utf-8")
    rows = re.search(r"interface FeatureData \{\n(.*?)\n}", types, re.DOTALL)
    named = re.findall(r"^\t(\w+):", rows[1] if rows else "", re.MULTILINE)
    assert named == [each.name for each in features() if type(code_of(each)).shown is not FeatureCode.shown]


def test_what_the_page_gets_besides_features_has_a_reason():
    names = {field.name for kind in (Meta, Ready) for field in fields(kind)}
    assert names == OF_THE_RUN | {name for row in OTHERS for name in row.split()}


class Poem(FeatureCode[None]):
    def addition(self, run):
        return Addition(marks={0: "Roses"}, above=["By a machine"], below=[f"Its key: {KEY}"])


class Broken(FeatureCode[None]):
    def shown(self, run):
        raise ValueError("shown")

    addition = shown


POEM = Feature("poem", code=f"{__name__}:Poem")
BROKEN = Feature("broken", code=f"{__name__}:Broken")


async def test_a_plugins_feature_adds_to_every_form_of_a_run_and_of_a_loaded_one(tmp_path):
    run = await run_script([text("Roses are red.")])
    before = bundle(run)
    with plugin_of(BROKEN, POEM):
        for each in (run, load(run.save(tmp_path / "poem.run.jsonl"))):
            for form in (*bundle(each).values(), *(form.render(each) for form in FORMS)):
                assert "Its key: •••" in form
                assert KEY not in form
            for kind in ("text/html", "text/markdown"):
                assert "By a machine" in bundle(each)[kind] or kind == "text/markdown"
    assert bundle(run) == before


@pytest.mark.parametrize("picked", [0, 1])
async def test_values_are_those_of_each_variant(picked):
    run = replace(await run_script([text("It is 47.1.")]), settings={"has_data": True})
    other = replace(run, events=run.events)
    both = replace((run, other)[picked], variants=(run, other))
    values = shown_features(both)["numbers"]
    assert [*values] == [0, 1]
    assert values[1]["below"] == "Not computed: 47.1"
    assert [*shown_features(run)["numbers"]] == [0]
