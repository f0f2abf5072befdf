"""The table of a run's settings: each row answers every column, and all that shows settings follows from it."""

from dataclasses import fields, replace

import pytest

from agent_nb import Agent, model
from agent_nb._base.wire import WireError
from agent_nb.core.errors import ConfigError
from agent_nb.core.feature import features
from agent_nb.core.messages import Usage
from agent_nb.core.options import OPTIONS
from agent_nb.core.run_settings import (
    SETTINGS,
    TYPED,
    Limits,
    RunSettings,
    Setting,
    check_recorded,
    header_words,
    other_settings,
    stricter,
)
from agent_nb.providers.prices import price_of
from agent_nb.providers.scripted import ScriptedProvider
from agent_nb.providers.vendors import APIS, VENDORS

VALUES = {
    "limits": Limits(steps=3, usd=0.5),
    "tools": ("view_file",),
    "effort": "high",
    "approve": "auto",
    "sampling": {"service_tier": "flex"},
    "stack": "vue",
    "data": "schema",
    "bind": {"sales": "pandas.DataFrame", "labels": "filled by the page"},
    "agree": 3,
    "answer": {"type": "object", "properties": {"slope": {"type": "number"}}},
    "branch": True,
    "window": 8_000,
    "lean": True,
    "instructions": "Be brief.",
    "agents_md": "../AGENTS.md",
    "network": True,
    "compact": True,
    "looks": 1,
}
"""A value for each setting that is not its default."""
STRICT_AND_LAX = {
    "limits": (Limits(steps=3, usd=0.1), Limits(steps=50, seconds=None, usd=2)),
    "tools": (("view_file",), ("view_file", "run_python")),
    "approve": ("ask", "auto"),
    "data": ("schema", ""),
    "bind": ({"sales": "list"}, {"sales": "list", "key": "str"}),
    "branch": (True, False),
    "network": (False, True),
    "looks": (0, 3),
}
ANSWERS = {
    "priced": (True, False),
    "sent": ("request", "system", "tools", "conversation", "nowhere"),
    "recorded": ("always", "set", "no"),
}


def with_value(name, value):
    return replace(RunSettings(), **({name: value} if name in TYPED else {"of_features": {name: value}}))


def test_typed_fields_are_those_that_providers_and_the_engine_read():
    assert {each.name for each in fields(RunSettings)} == TYPED | {"of_features"}
    assert SETTINGS.keys() - {each.name for each in features()} == TYPED


def test_columns_that_nobody_may_forget_have_no_default():
    required = {*Setting._fields} - {*Setting._field_defaults}
    assert required == {"sent", "matched", "accepted_by", "stricter"}


@pytest.mark.parametrize("protocol", APIS)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_model_accepts_ignores_or_refuses_a_setting_as_its_row_says(name, protocol):
    vendor = next(row for row in VENDORS.values() if row.apis[0] == protocol or protocol in row.apis)
    uses = SETTINGS[name].accepted_by
    assert uses.keys() <= APIS.keys()
    options = {name: VALUES[name], **({} if vendor.offline else {"api": protocol, "api_key": "sk-test"})}
    if uses.get(protocol) is None:
        with pytest.raises(ConfigError, match=f"`{vendor.name}:` does not accept `{name}`"):
            model(f"{vendor.name}:x", base_url=None if vendor.offline else "http://127.0.0.1:9", **options)


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_answers_every_column(name):
    row, value = SETTINGS[name], VALUES[name]
    default, changed = RunSettings(), with_value(name, value)
    for column, answers in ANSWERS.items():
        assert getattr(row, column) in answers
    assert row.is_compared in (True, False)
    assert callable(row.matched) or row.matched in ("system", "batch", "no")
    assert (name in changed.matched()) == callable(row.matched)
    assert (name in changed.matched_in_batch()) == (row.matched == "batch")
    assert (name in changed.priced()) == row.priced
    assert (changed.recorded() != default.recorded()) == (row.recorded != "no")
    assert [*changed.dry_run_lines()] == ([f"{row.dry_run}: {value}"] if row.dry_run else [])
    assert bool(header_words(changed.recorded())) == (row.header is not None)
    check_recorded(changed.recorded())


@pytest.mark.parametrize("name", [name for name, row in SETTINGS.items() if callable(row.matched)])
def test_both_directions_of_a_difference_are_told(name):
    none, some = {}, with_value(name, VALUES[name]).matched()
    (then,), (now,) = other_settings(some, none), other_settings(none, some)
    assert then != now
    assert not [*other_settings(some, some)]


@pytest.mark.parametrize("answer", [3, [], {"properties": {"a": 3}}, {"properties": {"a": {"type": {}}}}])
def test_a_damaged_type_of_an_answer_is_described(answer):
    assert len([*other_settings({"answer": answer}, {})]) == 1


def test_what_a_request_sends_is_an_option_of_the_cell():
    requested = {name for name, row in SETTINGS.items() if row.sent == "request"}
    assert requested - {"sampling"} <= OPTIONS.keys()


@pytest.mark.parametrize("name", ["effort", "window", "unknown"])
def test_an_agent_refuses_what_it_could_not_keep(name):
    with pytest.raises(TypeError, match=f"'{name}'"):
        Agent("demo:").replace(**{name: "high"})


@pytest.mark.parametrize("name", SETTINGS)
def test_another_value_can_only_make_a_setting_stricter(name):
    strict, lax = STRICT_AND_LAX.get(name, (VALUES[name], RunSettings().value(name)))
    assert (SETTINGS[name].stricter is not None) == (name in STRICT_AND_LAX)
    assert stricter(name, strict, lax) == strict
    assert stricter(name, lax, strict) == (strict if name in STRICT_AND_LAX else lax)
    assert stricter(name, strict, None) == strict


@pytest.mark.parametrize(
    "recorded",
    [
        {"effort": 3},
        *(
            {"data": value}
            for value in ("all", "ALL", "Schema", "schema ", "\0", True, 1, [], ["schema"], {"a": 1})
        ),
        {"network": "yes"},
        {"steps": "3"},
        {"steps": 1e400},
        {"approve": ["auto"]},
        {"tools": "run_python"},
        {"bind": ["key"]},
        {"bind": {"key": 1}},
        {"looks": 10**30},
    ],
)
def test_settings_in_a_file_of_other_types_and_values_are_refused(recorded):
    with pytest.raises(WireError, match=rf"^`{next(iter(recorded))}.*` is .*, not ."):
        check_recorded(recorded)


@pytest.mark.parametrize("name", [name for name, row in SETTINGS.items() if row.priced])
def test_a_priced_setting_changes_the_price_or_makes_it_unknown(name):
    def price(**settings):
        return price_of("openai:gpt-6.1-sol", Usage(input=1000), replace(RunSettings(), **settings).priced())

    assert price() == price(sampling={"service_tier": "default"}) > 0
    assert price(**{name: VALUES[name]}) != price()


def test_a_run_is_priced_with_the_settings_of_its_model():
    with ScriptedProvider([]) as provider:
        provider.name, provider.sampling = "openai:gpt-6.1-sol", VALUES["sampling"]
        assert Agent(provider).prepare("go").price(Usage(input=1000)) is None
