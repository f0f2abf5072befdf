"""`vendor:model`, and the error for each wrong name."""

import subprocess
import sys

import pytest

from agent_nb import Agent, Limits
from agent_nb._base.constants import EFFORTS, is_demo, is_replay
from agent_nb._base.secrets import MASK, mask
from agent_nb.core.errors import ConfigError, InstallError, UnknownModelError
from agent_nb.providers import default_model_name, full_name, model, requirements
from agent_nb.providers.studio import image_makers
from agent_nb.providers.vendors import VENDORS
from tests.support.older_sdks import older_sdks
from tests.support.wire.cases import CLIENT_OPTIONS, ask, collect

ONLINE = [row.name for row in VENDORS.values() if not row.offline]


def made(name: str, **settings):
    vendor = name.strip().lower().partition(":")[0] if isinstance(name, str) else ""
    needed = {"base_url": "https://127.0.0.1:9", **CLIENT_OPTIONS[vendor]} if vendor in CLIENT_OPTIONS else {}
    return model(name, **{"api_key": "some-key-of-mine", **needed, **settings})


@pytest.mark.parametrize("vendor", ONLINE)
def test_every_vendor_makes_a_provider(vendor: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    provider = made(f"{vendor}:some-model")
    assert provider.name == f"{vendor}:some-model"
    assert "some-key-of-mine" not in repr(provider)


def test_an_empty_model_is_the_recommended_one():
    assert made("anthropic:").name == f"anthropic:{VENDORS['anthropic'].recommended}"
    assert made(" OpenAI: ").name == f"openai:{VENDORS['openai'].recommended}"


def test_the_demo_and_replays_are_told_by_their_vendor():
    names = ("demo:", "demo:other", "demolition:x", "ollama:demo:")
    assert [is_demo(name) for name in names] == [True, True, False, False]
    assert [is_replay(name) for name in ("replay:cassettes/hero.jsonl", "replay")] == [True, False]


def test_a_colon_in_the_model_stays():
    assert made("ollama:qwen3:8b").settings.model == "qwen3:8b"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("antropic:claude", "`anthropic:`"),
        ("open-ai:gpt", "`openai:`"),
        ("claude-opus-5-5", "`anthropic:claude-opus-5-5`"),
        ("gpt-6.1-sol", "`openai:gpt-6.1-sol`"),
        ("gemini-4-argon", "`gemini:gemini-4-argon`"),
        ("zzz:model", "Known vendors"),
        ("", "Known vendors"),
    ],
)
def test_an_unknown_vendor_gets_the_nearest_name(name: str, hint: str):
    with pytest.raises(UnknownModelError) as caught:
        made(name)
    assert hint in str(caught.value)


@pytest.mark.parametrize("name", ["lmstudio:", "vllm:", "chat:"])
def test_a_server_without_a_model_asks_for_its_name(name: str):
    with pytest.raises(ConfigError, match="Name the model"):
        made(name)


def test_chat_needs_an_address():
    with pytest.raises(ConfigError, match="`base_url`"):
        made("chat:some-model")
    assert made("chat:m", base_url="http://localhost:9/v1/").settings.base_url == "http://localhost:9/v1"


def test_an_address_needs_a_scheme():
    with pytest.raises(ConfigError, match="http://"):
        made("openai:m", base_url="localhost:9000")


@pytest.mark.parametrize(
    "address",
    [
        "http://bob:hunter2@127.0.0.1:9/v1",
        "http://hunter2@127.0.0.1:9/v1",
        "http://bob:hunter2%2Fx@127.0.0.1:9/v1",
        "http://bob:hunter2@secret/x@127.0.0.1:9/v1",
    ],
)
async def test_an_address_is_told_without_its_password(address: str):
    provider = model("chat:any", base_url=address)
    run = await Agent(provider, limits=Limits(seconds=10)).run("A page")
    assert (run.reason, run.error and "127.0.0.1:9/v1" in run.error) == ("failed", True)
    assert "hunter2" not in f"{run.error} {provider.settings!r}"


def test_the_password_of_an_address_is_masked():
    model("chat:any", base_url="http://bob:p%40ssword-1@127.0.0.1:9/v1")
    assert mask("asked with p@ssword-1, p%40ssword-1") == f"asked with {MASK}, {MASK}"
    model("chat:any", base_url="http://a-token-of-mine@127.0.0.1:9/v1")
    assert mask("asked http://a-token-of-mine@127.0.0.1:9") == f"asked http:{MASK}127.0.0.1:9"


def test_a_wrong_address_hides_its_password_too():
    with pytest.raises(ConfigError, match="The base_url 'host/v1' must begin with http://") as caught:
        model("chat:any", base_url="bob:hunter2@host/v1")
    assert "hunter2" not in str(caught.value)


def test_secret_headers_are_masked_and_others_not():
    headers = {
        "api-key": "azure-0123456789",
        "Authorization": "Basic dXNlcjpwYXNz",
        "X-Title": "My notebook of cakes",
    }
    model("chat:any", base_url="http://127.0.0.1:9", headers=headers)
    text = "sent azure-0123456789, dXNlcjpwYXNz and My notebook of cakes"
    assert mask(text) == f"sent {MASK}, {MASK} and My notebook of cakes"


@pytest.mark.parametrize(
    ("vendor", "variable"),
    [
        ("openai", "OPENAI_BASE_URL"),
        ("anthropic", "ANTHROPIC_BASE_URL"),
        ("gemini", "GOOGLE_GEMINI_BASE_URL"),
    ],
)
def test_the_sdks_own_variables_set_the_address(vendor: str, variable: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(variable, "https://gateway.example/v1")
    assert made(f"{vendor}:m").settings.base_url == "https://gateway.example/v1"
    assert made(f"{vendor}:m", base_url="https://other.example").settings.base_url == "https://other.example"


def test_openais_address_is_not_for_others(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    assert made("openrouter:m").settings.base_url == VENDORS["openrouter"].base_url


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("vendor", ONLINE)
def test_every_effort_is_understood(vendor: str, effort: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    name = f"{vendor}:{VENDORS[vendor].recommended or 'm'}"
    provider = made(name, effort=effort)
    plain = made(name)
    assert provider.body(ask()) != plain.body(ask())


@pytest.mark.parametrize(
    "settings", [{"effort": "heroic"}, {"max_tokens": 0}, {"max_tokens": "many"}, {"api": "soap"}]
)
def test_a_wrong_setting_is_named(settings):
    with pytest.raises(ConfigError, match=str(next(iter(settings.values())))):
        made("openai:m", **settings)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"api_key": 3}, "`api_key` is text, not a int."),
        ({"base_url": 3}, "`base_url` is text, not a int."),
        ({"headers": "x: y"}, "`headers` is a dict of names and values, not a str."),
    ],
)
def test_a_setting_of_the_wrong_kind_is_named(settings, says):
    with pytest.raises(ConfigError) as caught:
        model("openai:m", **{"api_key": "sk-test", **settings})
    assert str(caught.value) == says


def test_a_name_is_text():
    with pytest.raises(
        ConfigError, match="A model is a name such as 'anthropic:claude-opus-5-5', not a value of type int"
    ):
        model(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given", [{"max_tokens": 9}, {"base_url": "http://x"}, {"api_key": "k"}, {"folder": "."}]
)
def test_what_an_offline_model_cannot_use_is_refused(given):
    (option,) = given
    with pytest.raises(ConfigError, match=f"`demo:` uses no server: it accepts `pace`, not `{option}`"):
        model("demo:", **given)


@pytest.mark.parametrize("pace", [-1, float("nan"), float("inf"), "fast", None])
def test_a_pace_that_is_none_is_refused(pace):
    with pytest.raises(ConfigError, match="The pace must be 0"):
        model("demo:", pace=pace)


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(InstallError, match="%pip install anthropic"):
        made("anthropic:")


async def test_the_vendors_whose_sdks_fit_work(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(older_sdks(tmp_path, ("anthropic", "google-genai")))
    monkeypatch.setattr(requirements, "_version", requirements._version.__wrapped__)  # as in a new kernel
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "key-of-a-test")
    assert default_model_name() == made("openai:").name
    (maker,) = image_makers(made("openai:"))
    assert maker.settings.vendor.name == "openai"
    (named,) = image_makers(made("openai:"), "gemini:")
    with pytest.raises(InstallError, match=r"Gemini needs version 3 or newer .*, and 2\.9\.1 is"):
        await named.client()
    monkeypatch.delenv("OPENAI_API_KEY")
    assert default_model_name() == full_name("anthropic:")


async def test_a_broken_package_says_how_to_repair(monkeypatch: pytest.MonkeyPatch):
    provider = made("gemini:")
    monkeypatch.setitem(sys.modules, "google.genai", None)
    with pytest.raises(InstallError, match="--force-reinstall google-genai"):
        await collect(provider)


def test_making_a_provider_imports_no_sdk():
    code = (
        "import sys; from agent_nb.providers import default_model_name, model\n"
        "default_model_name()\n"
        "heavy = ('openai', 'anthropic', 'google.genai', 'httpx2', 'pydantic', 'PIL', 'genai_prices')\n"
        "print([name for name in (*heavy, 'agent_nb.core.events') if name in sys.modules])\n"
        "for vendor in ('openai', 'anthropic', 'gemini', 'openrouter'): model(vendor + ':m', api_key='k')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "[]"]
