"""The table of what the vendors refuse: every rule has a source and refuses its example."""

import json
from dataclasses import replace

import pytest

from tests.support.wire.rules import RULES, Rule, first_refusal


def test_ids_are_unique():
    ids = [rule.id for rule in RULES]
    assert sorted(set(ids)) == sorted(ids)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_refuses_its_example_in_the_shape_of_the_vendor_and_holds_for_its_models_alone(rule: Rule):
    assert rule.source
    request = rule.refused_request
    assert rule.holds_for(request.model)
    found = first_refusal(rule.protocol, request, (rule,))
    assert found
    answer = found[1]
    assert answer.status == rule.status
    body = json.loads(answer.body)
    error = body.get("error", body)
    assert error["message"]
    assert {key: error[key] for key in rule.error if key in error}.items() <= rule.error.items()

    other = replace(request, model="some-other-model")
    if rule.family or rule.models:
        assert not rule.holds_for(other.model)
        assert first_refusal(rule.protocol, other, (rule,)) is None
