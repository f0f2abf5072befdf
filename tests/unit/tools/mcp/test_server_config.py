"""How a server is written: names, variables, and values that are masked."""

import pytest

from agent_nb._base.secrets import MASK, mask
from agent_nb.tools.mcp.server import to_output
from agent_nb.tools.mcp.server_config import server_config


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("uvx", "mcp-server-fetch"), "mcp-server-fetch"),
        (("python", "-m", "weather"), "weather"),
        (("/opt/tools/weather.py",), "weather"),
        (("https://api.example.com/mcp",), "api_example_com"),
    ],
)
def test_a_server_is_named_after_its_command(command, name):
    assert server_config(command).name == name


def test_variables_are_replaced_and_their_values_masked(monkeypatch):
    monkeypatch.setenv("WEATHER_TOKEN", "q7-Zr9-secret-42x")
    monkeypatch.setenv("HOME", "/home/somebody")
    config = server_config(
        ("run", "${HOME}/x", "${MISSING:-fallback}"),
        env={"TOKEN": "${WEATHER_TOKEN}", "API_TOKEN": "w8kk-29dd-ll10"},
    )
    expanded = config.expanded()
    assert expanded.command == ("run", "/home/somebody/x", "fallback")
    assert expanded.env["TOKEN"] == "q7-Zr9-secret-42x"
    assert "q7-Zr9" not in repr(expanded) + config.shown
    assert mask("failed with q7-Zr9-secret-42x and w8kk-29dd-ll10") == f"failed with {MASK} and {MASK}"
    assert mask("/home/somebody/x") == "/home/somebody/x"
    assert "${HOME}" in config.shown


def test_a_bearer_token_is_masked_by_itself(monkeypatch):
    monkeypatch.setenv("API_TOKEN", "tt-99-aa-bb-cc-77")
    config = server_config(("https://x.example/mcp",), headers={"Authorization": "Bearer ${API_TOKEN}"})
    assert config.expanded().headers["Authorization"] == "Bearer tt-99-aa-bb-cc-77"
    assert mask("got tt-99-aa-bb-cc-77") == f"got {MASK}"


def test_only_secrets_are_masked():
    """A mask of `application/json` or of a time zone would corrupt every page that has them."""
    server_config(
        ("https://x.example/mcp",),
        headers={
            "Content-Type": "application/json",
            "X-Api-Key": "kk-10-ll-20-mm",
            "Cookie": "c1-d2-e3-f4-g5",
        },
    ).expanded()
    server_config(("x",), env={"TZ": "Europe/Paris", "MODE": "development-7"}).expanded()
    page = '<script type="application/json">Europe/Paris development-7</script>'
    assert mask(page) == page
    assert mask("kk-10-ll-20-mm c1-d2-e3-f4-g5") == f"{MASK} {MASK}"


def test_content_that_no_model_takes_is_described():
    output = to_output(
        "s",
        {
            "content": [
                {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
                {
                    "type": "resource",
                    "resource": {"uri": "f://a", "blob": "AAAA", "mimeType": "application/zip"},
                },
                {"type": "resource_link", "uri": "f://b", "name": "b"},
                {"type": "image", "data": "no base64!", "mimeType": "image/png"},
                {"type": "hologram"},
            ]
        },
    )
    assert output.text.splitlines() == [
        "[audio, audio/wav, 3 bytes, left out]",
        "[resource f://a, application/zip, 3 bytes, left out]",
        "[link to the resource f://b b]",
        "[an image that cannot be read: Only base64 data is allowed]",
        "[content of type hologram, which is not supported]",
    ]
    assert to_output("s", {"content": [], "structuredContent": {"a": 1}}).text == '{"a": 1}'


def test_a_command_cannot_look_like_another():
    config = server_config(
        ("x", "line\nAllowed: \u202eyes\x1b[2K", "${SECRET_KEY}"), env={"A": "${A}${B:-c}"}
    )
    assert "\n" not in config.shown
    assert not {"\u202e", "\x1b"} & set(config.shown)
    assert config.variables == ["SECRET_KEY", "A", "B"]
