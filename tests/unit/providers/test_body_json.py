"""A body as JSON."""

import json

import pytest

from agent_nb.providers.streaming import encoded


def test_half_a_character_is_replaced():
    assert json.loads(encoded({"a": "x\ud83d"})) == {"a": "x\ufffd"}


def test_what_is_not_json_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        encoded({"temperature": float("nan")})
