"""Small forms that several vendors share."""

import json

import pytest

from agent_nb.core.messages import Source
from agent_nb.providers.parts import arguments_object, source_text
from agent_nb.providers.streaming import JsonContent


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


async def encoded(body):
    content = JsonContent(body)
    sent, again = [b"".join([data async for data in content]) for _ in range(2)]
    assert sent == again
    assert len(content) == len(sent)
    return sent


async def test_a_body_that_is_not_json_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        await encoded({"temperature": float("nan")})


@pytest.mark.parametrize("page", ["", "é", "€" * 32_767 + '"😀\n' + "a" * 70_000])
async def test_a_body_is_compact_json_without_half_characters(page):
    body = {"a": [1, None, page, (True,)], "b": {}, 5: [], page: -0.5}
    assert await encoded(body) == json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    assert json.loads(await encoded({page: f"{page}\ud83d"})) == {page: f"{page}\ufffd"}


def test_a_source_reads_as_a_link():
    assert source_text(Source("Bread", "https://a.example")) == "[Bread](https://a.example)"
    assert source_text(Source("Bread", "https://a.example", "Flour.")) == "[Bread](https://a.example): Flour."
