"""Small forms that several vendors share."""

import pytest

from agent_nb.core.messages import Source
from agent_nb.providers.parts import arguments_object, source_text
from agent_nb.providers.streaming import encoded


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"path": "a"}', {"path": "a"}),
        ("", {}),
        ("[1, 2]", {"value": [1, 2]}),
        ("null", {"value": None}),
        ('{"path": ', {"invalid_json": '{"path": '}),
        pytest.param("[" * 100_000, {"invalid_json": "[" * 100_000}, id="nested too deeply"),
    ],
)
def test_arguments_are_always_an_object(text, value):
    assert arguments_object(text) == value


def test_a_body_that_is_not_json_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        encoded({"temperature": float("nan")})


def test_a_source_reads_as_a_link():
    assert source_text(Source("Bread", "https://a.example")) == "[Bread](https://a.example)"
    assert source_text(Source("Bread", "https://a.example", "Flour.")) == "[Bread](https://a.example): Flour."
