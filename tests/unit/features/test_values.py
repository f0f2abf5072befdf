"""Values of features: set at the end of a run, read as `run.NAME`."""

import pickle

import pytest

from agent_nb import Agent, ConfigError, load
from agent_nb._base.secrets import MASK, register
from agent_nb.core.feature import features
from agent_nb.plugins import Feature, FeatureCode, RunPart
from agent_nb.providers.scripted import ScriptedProvider, text
from agent_nb.run import Run
from agent_nb.run.replay_file import replay_html
from tests.support.plugins import plugin_of

SECRET = "s3cret-value-71fa9c"
WORDS = Feature("words", value="dict[str, int] | None", code=f"{__name__}:CountCode")


class CountCode(FeatureCode):
    def part(self, run):
        return Count(run)


class Count(RunPart):
    def __init__(self, run):
        self.run = run

    def finish(self, end):
        end.values[WORDS.name] = {"said": 2, "key": SECRET}


@pytest.fixture
def counted():
    with plugin_of(WORDS):
        yield


def start(**options):
    provider = ScriptedProvider([[text("Two words.")]] * 2)
    return Agent(provider).start_variants("go", **options)


async def made(**options):
    return await start(**options)


async def test_it_is_read_by_its_name_also_of_each_variant_and_of_a_pickle(counted):
    run = await made(variants=2)
    assert run.words == {"said": 2, "key": SECRET}
    assert run.pick(2).words == run.variants[1].words == run.words
    handle = start()
    await handle
    assert handle.words == run.words
    assert pickle.loads(pickle.dumps(run)).words == run.words


async def test_it_survives_save_and_load_and_secrets_in_it_are_masked(counted, tmp_path):
    register(SECRET)
    run = await made()
    run.save(tmp_path / "hero.run.jsonl")
    assert SECRET not in (tmp_path / "hero.run.jsonl").read_text()
    assert load(tmp_path / "hero.run.jsonl").words == {"said": 2, "key": MASK}
    assert SECRET not in replay_html(run)
    assert SECRET not in run.to_html() + run.to_markdown()


async def test_a_replay_has_it_as_recorded(counted, tmp_path):
    run = await made()
    run.save(tmp_path / "hero.run.jsonl")
    again = await Agent(f"replay:{tmp_path / 'hero.run.jsonl'}").run("go")
    assert again.words["said"] == run.words["said"] == 2


async def test_other_names_are_no_attributes(counted):
    run = await made()
    with pytest.raises(AttributeError, match="'Run' object has no attribute 'wordz'"):
        run.wordz  # noqa: B018
    assert not hasattr(run, "agents_md"), "a feature without a value"


async def test_a_run_without_the_value_has_none(tmp_path):
    run = await made()
    with plugin_of(WORDS):
        assert run.words is None
    assert run.values == {}


def test_no_value_hides_an_attribute_of_runs():
    for name in ("files", "prompt", "to_html"):
        with (
            pytest.raises(ConfigError, match=f"Runs have an attribute `{name}`"),
            plugin_of(Feature(name, value="int")),
        ):
            pass
    taken = {*dir(Run), *Run.__dataclass_fields__}
    assert not taken & {feature.name for feature in features() if feature.value}
