"""Who makes the images of a run."""

import pytest

from agent_nb import Agent, Limits
from agent_nb.core.errors import ConfigError
from agent_nb.images.maker import EDITS
from agent_nb.providers import model
from agent_nb.providers.scripted import ScriptedProvider
from agent_nb.providers.studio import image_makers, studio_for

KEY = "sk-test-0123456789abcdef0123"
MODELS = {"openai": "openai:gpt-6.1-sol", "gemini": "gemini:gemini-4-argon"}


def served(provider):
    studio = studio_for(provider)
    return studio.maker.name, studio.cutter.name


OPENAI, GEMINI = "openai:gpt-image-2.6-sunburst", "gemini:gemini-nano-banana-2.1"
ANTHROPIC = "anthropic:claude-opus-5-5"


def test_with_no_key_all_is_local():
    assert served(model(ANTHROPIC, api_key=KEY)) == ("placeholder", "local")
    assert served(ScriptedProvider([])) == ("placeholder", "local")


def test_the_models_own_vendor_comes_first(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    assert served(model(MODELS["gemini"])) == (GEMINI, OPENAI)
    assert served(model(MODELS["openai"])) == (OPENAI, OPENAI)
    assert served(model(ANTHROPIC, api_key=KEY)) == (OPENAI, OPENAI)


def test_any_vendor_with_a_key_serves(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    assert served(model(ANTHROPIC, api_key=KEY)) == (GEMINI, "local")


@pytest.mark.parametrize("name", ["ollama:qwen3", "lmstudio:any", "vllm:any", "llamacpp:", "chat:any"])
def test_a_local_model_asks_nobody_else(monkeypatch, name):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("CHAT_BASE_URL", "http://localhost:9/v1")
    assert served(model(name)) == ("placeholder", "local")
    assert EDITS not in studio_for(model(name)).serves
    monkeypatch.setenv("AGENT_NB_IMAGES", "openai")
    assert served(model(name)) == (OPENAI, OPENAI)


def test_the_demo_and_replays_stay_local(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert served(model("demo:")) == ("placeholder", "local")
    assert not studio_for(model("demo:")).online
    monkeypatch.setenv("AGENT_NB_MODE", "replay")
    assert served(model(MODELS["openai"])) == ("placeholder", "local")


@pytest.mark.parametrize(
    ("chosen", "maker", "cutter"),
    [
        ("local", "placeholder", "local"),
        ("gemini:gemini-3-pro-image", "gemini:gemini-3-pro-image", "local"),
        ("openai", OPENAI, OPENAI),
    ],
)
def test_the_person_chooses_the_maker(monkeypatch, chosen, maker, cutter):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("AGENT_NB_IMAGES", chosen)
    assert served(model(MODELS["openai"])) == (maker, cutter)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("openai:gpt-image-2.6-flare", "which needs a key. Set `OPENAI_API_KEY`"),
        ("anthropic", r"'anthropic' makes no images. AGENT_NB_IMAGES can be local, openai:gpt-image"),
    ],
)
def test_a_wrong_choice_names_the_remedy(monkeypatch, chosen, message):
    monkeypatch.setenv("AGENT_NB_IMAGES", chosen)
    with pytest.raises(ConfigError, match=message):
        studio_for(model(ANTHROPIC, api_key=KEY))


def test_a_budget_buys_none_of_unknown_price(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AGENT_NB_IMAGES", "openai:gpt-image-99")
    studio = studio_for(model(MODELS["openai"]), budget=True)
    assert (studio.maker.name, studio.cutter.name) == ("placeholder", "local")
    assert "the run has a budget, and the price of openai:gpt-image-99 is not known" in studio.maker.note
    agent = Agent(model(MODELS["openai"]), limits=Limits(usd=1))
    assert "edit_image" not in [spec.name for spec in agent.prepare("A page").tools]
    assert studio_for(model(MODELS["openai"])).maker.name == "openai:gpt-image-99"


def test_a_maker_shows_no_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (maker,) = image_makers(ScriptedProvider([]))
    assert repr(maker) == f"<OpenAIImageMaker {OPENAI}>"
    assert KEY not in repr(studio_for(ScriptedProvider([])))
