"""Where keys come from, in which order, and what a missing one says."""

import sys
import types

import pytest

from agent_nb.core.errors import MissingKeyError
from agent_nb.providers import default_model_name, model, settings
from agent_nb.providers.vendors import VENDORS
from tests.support.wire.cases import CLIENT_OPTIONS


@pytest.fixture(autouse=True)
def _no_colab_keys(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(settings, "_colab_keys", {})


@pytest.fixture
def colab(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A `google.colab` whose `userdata` holds these secrets and raises for others, as the real one does."""
    secrets: dict[str, str] = {}

    class SecretNotFoundError(Exception):
        pass

    def get(name: str) -> str:
        if name not in secrets:
            raise SecretNotFoundError(name)
        return secrets[name]

    module = types.ModuleType("google.colab")
    module.userdata = types.SimpleNamespace(get=get)
    monkeypatch.setitem(sys.modules, "google.colab", module)
    return secrets


@pytest.mark.parametrize(
    "vendor", [vendor for vendor in VENDORS.values() if vendor.keys and not vendor.local]
)
def test_a_missing_key_names_its_variable(vendor, monkeypatch: pytest.MonkeyPatch):
    if vendor.identity:
        monkeypatch.setitem(sys.modules, vendor.identity.module, None)
        monkeypatch.setenv(vendor.base_url_variable, "https://127.0.0.1:9")
    with pytest.raises(MissingKeyError) as caught:
        model(f"{vendor.name}:{vendor.recommended or 'm'}", **CLIENT_OPTIONS.get(vendor.name, {}))
    assert f"`{vendor.key_variable}`" in str(caught.value)
    assert "`demo:`" in str(caught.value)


def test_the_argument_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    assert model("openai:", api_key="from-the-argument").settings.api_key == "from-the-argument"
    assert model("openai:").settings.api_key == "from-the-environment"


def test_the_first_variable_wins(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GEMINI_API_KEY", "from-gemini")
    assert model("gemini:").settings.key_variable == "GEMINI_API_KEY"
    monkeypatch.setenv("GOOGLE_API_KEY", "from-google")
    assert model("gemini:").settings.api_key == "from-google"


def test_a_blank_variable_is_no_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "  ")
    with pytest.raises(MissingKeyError):
        model("openai:")


def test_colab_secrets_come_last(colab: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    colab["ANTHROPIC_API_KEY"] = "from-colab"
    assert model("anthropic:").settings.api_key == "from-colab"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
    assert model("anthropic:").settings.api_key == "from-the-environment"


def test_a_key_added_to_colab_later_is_found(colab: dict[str, str]):
    with pytest.raises(MissingKeyError):
        model("openai:")
    colab["OPENAI_API_KEY"] = "added-later"
    assert model("openai:").settings.api_key == "added-later"


def test_the_default_model_follows_the_keys(monkeypatch: pytest.MonkeyPatch):
    assert default_model_name() is None
    monkeypatch.setenv("DEEPSEEK_API_KEY", "x")
    assert default_model_name() is None
    for name, vendor in (
        ("GEMINI_API_KEY", "gemini"),
        ("OPENAI_API_KEY", "openai"),
        ("ANTHROPIC_AUTH_TOKEN", "anthropic"),
    ):
        monkeypatch.setenv(name, "x")
        assert default_model_name() == f"{vendor}:{VENDORS[vendor].recommended}"
