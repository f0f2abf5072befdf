"""The table of vendors: one row per name before the colon in `vendor:model`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_nb._base.constants import ACP, DEMO, REPLAY
from agent_nb._base.wire import Json
from agent_nb.providers.models import (
    ANTHROPIC_MODELS,
    CHAT_MODELS,
    DEPLOYED_MODELS,
    GEMINI_MODELS,
    OPENAI_MODELS,
    Family,
)

EFFORT = "{effort}"
"""Placeholder for the effort in `Vendor.effort_fields`."""
FREE, NO_PRICE = "free", ""
YOUR_SERVER = "your server"
"""Title of a server without a vendor."""
# Servers with chat templates: some templates read the flag, others the effort.
_TEMPLATE_EFFORT: Json = {"chat_template_kwargs": {"enable_thinking": True}, "reasoning_effort": EFFORT}
_TEMPLATE_NO_EFFORT: Json = {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """A wire protocol and the SDK it needs. `PROVIDERS` in `registry.py` lists its implementation."""

    package: str = ""
    """The SDK's name on PyPI; empty for models that need no server."""
    sdk: str = ""
    """The module to import from that package."""
    lowest: int = 0
    """The first major version of the SDK that uses httpx2, and so accepts the shared HTTP client."""
    options: tuple[str, ...] = ()
    """Options of a model that needs no server, besides the settings that `accepted_by` in `SETTINGS` lists for it."""


APIS: dict[str, Api] = {
    "anthropic_messages": Api(package="anthropic", sdk="anthropic", lowest=1),
    "responses": Api(package="openai", sdk="openai", lowest=3),
    "interactions": Api(package="google-genai", sdk="google.genai", lowest=3),
    "generate_content": Api(package="google-genai", sdk="google.genai", lowest=3),
    "chat": Api(package="openai", sdk="openai", lowest=3),
    DEMO: Api(options=("pace",)),
    REPLAY: Api(options=("pace", "folder")),
    ACP: Api(options=("silence",)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOption:
    """An argument that a cloud's client requires besides its credentials."""

    name: str
    """Its name in `model(...)`, and in the SDK's client."""
    variables: tuple[str, ...]
    """Environment variables for it; the first one set wins."""
    meaning: str
    """What it is, with an example, as part of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Credentials of a cloud that are not a key. The cloud's own library looks for them and renews them."""

    module: str
    """The library's module."""
    extra: str = ""
    """The extra of this package that installs the library; empty if the SDK requires it."""
    variables: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Credentials are here if one of these variables is set or one of these files exists."""
    remedy: str
    """The command that signs the user in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """Everything about a vendor that is not its wire protocol."""

    name: str
    title: str
    """Name in error messages."""
    apis: tuple[str, ...] = ("chat",)
    """Keys of `APIS`. The first is used unless `model(..., api=)` names another."""
    keys: tuple[str, ...] = ()
    """Environment variables for the key; the first one set wins. Optional for a local server."""
    usual_key: str = ""
    """The one of `keys` that messages name, if not the first."""
    other_secrets: tuple[str, ...] = ()
    """Other environment variables whose values are masked and not passed on to outside agents."""
    identity: Identity | None = None
    """Used if there is no key."""
    client_options: tuple[ClientOption, ...] = ()
    deployment_of: str = ""
    """The vendor whose models it serves under names that the user chose. Prices come from the model that the answer
    names."""
    key_page: str = ""
    """Page where the vendor issues keys."""
    recommended: str = ""
    """Default model; empty if the user must name one."""
    preferred: bool = False
    """Whether its recommended model is the default if its key is set. The first such vendor in the table wins."""
    name_prefixes: tuple[str, ...] = ()
    """Prefixes of its models' names, to suggest the vendor when it is missing."""
    base_url: str = ""
    """Empty for the SDK's default."""
    base_url_variable: str = ""
    base_url_path: str = ""
    """Appended to the address in that variable."""
    local: bool = False
    """The user's own server: needs no key, has no price, may take minutes to send its first byte."""
    price_id: str = NO_PRICE
    """Its id in the `genai-prices` tables, `FREE`, or `NO_PRICE` if its prices are unknown."""
    models: tuple[Family, ...] = CHAT_MODELS
    """Parameters its models accept; the first match wins, and the last row matches every name."""
    effort_fields: Json = field(default_factory=lambda: {"reasoning_effort": EFFORT})
    """Request fields for the effort in Chat Completions."""
    no_effort_fields: Json | None = None
    """Request fields for the effort `none`, if different."""
    call_fields: Json = field(default_factory=dict)
    """Fields that an assistant message with tool calls must have in Chat Completions."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every request; `headers` passed to `model` override them."""
    images: bool = True
    note: str = ""
    image_model: str = ""
    """Its image model, if the vendor is in `IMAGE_MAKERS` in `studio.py`."""

    @property
    def api(self) -> Api:
        return APIS[self.apis[0]]

    @property
    def offline(self) -> bool:
        """Needs no key, no package and no server."""
        return not self.api.package

    @property
    def key_variable(self) -> str:
        """The environment variable to set for the key."""
        return self.usual_key or self.keys[0]

    @property
    def secret_variables(self) -> tuple[str, ...]:
        return (*self.keys, *self.other_secrets)

    def family(self, model: str) -> Family:
        return next(family for family in self.models if re.search(family.pattern, model))


_ROWS = (
    Vendor(
        name="anthropic",
        title="Anthropic",
        apis=("anthropic_messages",),
        keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        key_page="https://platform.claude.com/settings/keys",
        recommended="claude-opus-5-5",
        preferred=True,
        name_prefixes=("claude",),
        base_url_variable="ANTHROPIC_BASE_URL",
        price_id="anthropic",
        models=ANTHROPIC_MODELS,
        note="Messages API",
    ),
    Vendor(
        name="openai",
        title="OpenAI",
        apis=("responses",),
        keys=("OPENAI_API_KEY",),
        key_page="https://platform.openai.com/api-keys",
        recommended="gpt-6.1-sol",
        preferred=True,
        name_prefixes=("gpt", "o3", "o4"),
        base_url_variable="OPENAI_BASE_URL",
        price_id="openai",
        models=OPENAI_MODELS,
        note="Responses API",
        image_model="gpt-image-2.6-sunburst",
    ),
    Vendor(
        name="gemini",
        title="Gemini",
        apis=("interactions", "generate_content"),
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        key_page="https://aistudio.google.com/apikey",
        recommended="gemini-4-argon",
        preferred=True,
        name_prefixes=("gemini",),
        base_url_variable="GOOGLE_GEMINI_BASE_URL",
        price_id="google",
        models=GEMINI_MODELS,
        note='Interactions API; `api="generate_content"` for the older one, which does not stream arguments',
        image_model="gemini-nano-banana-2.1",
    ),
    Vendor(
        name="openrouter",
        title="OpenRouter",
        keys=("OPENROUTER_API_KEY",),
        key_page="https://openrouter.ai/settings/keys",
        recommended="anthropic/claude-opus-5.5",
        base_url="https://openrouter.ai/api/v1",
        price_id="openrouter",
        effort_fields={"reasoning": {"effort": EFFORT}},
        note="many vendors behind one key",
    ),
    Vendor(
        name="deepseek",
        title="DeepSeek",
        keys=("DEEPSEEK_API_KEY",),
        key_page="https://platform.deepseek.com/api_keys",
        recommended="deepseek-v4-pro",
        base_url="https://api.deepseek.com",
        price_id="deepseek",
        effort_fields={"thinking": {"type": "enabled"}, "reasoning_effort": EFFORT},
        no_effort_fields={"thinking": {"type": "disabled"}},
        # A message with calls is refused without this field, even if the turn had no thinking.
        call_fields={"reasoning_content": ""},
        images=False,
    ),
    Vendor(
        name="azure",
        title="Azure OpenAI",
        apis=("responses",),
        keys=("AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_API_KEY"),  # in the SDK's order
        usual_key="AZURE_OPENAI_API_KEY",
        other_secrets=("AZURE_CLIENT_SECRET",),
        identity=Identity(
            module="azure.identity",
            extra="azure",
            variables=("AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT"),
            files=("$AZURE_CONFIG_DIR/azureProfile.json", "~/.azure/azureProfile.json"),
            remedy="az login",
        ),
        client_options=(
            ClientOption(
                name="base_url",
                variables=("AZURE_OPENAI_ENDPOINT",),
                meaning="the endpoint of your resource, such as https://NAME.openai.azure.com",
            ),
            ClientOption(
                name="api_version",
                variables=("OPENAI_API_VERSION",),
                meaning="the version of the API, such as 2025-04-01-preview",
            ),
        ),
        base_url_variable="AZURE_OPENAI_ENDPOINT",
        base_url_path="/openai",
        deployment_of="openai",
        models=DEPLOYED_MODELS,
        note="Responses API; name your deployment",
    ),
    Vendor(
        name="vertex",
        title="Vertex AI",
        apis=("generate_content",),
        identity=Identity(
            module="google.auth",
            files=(
                "$GOOGLE_APPLICATION_CREDENTIALS",
                "$CLOUDSDK_CONFIG/application_default_credentials.json",
                "$APPDATA/gcloud/application_default_credentials.json",
                "~/.config/gcloud/application_default_credentials.json",
            ),
            remedy="gcloud auth application-default login",
        ),
        client_options=(
            ClientOption(
                name="project",
                variables=("GOOGLE_CLOUD_PROJECT",),
                meaning="the id of your Google Cloud project",
            ),
            ClientOption(
                name="location",
                variables=("GOOGLE_CLOUD_LOCATION",),
                meaning="a region that serves the model, such as europe-west1 or global",
            ),
        ),
        recommended="gemini-4-argon",
        name_prefixes=("gemini",),
        base_url_variable="GOOGLE_VERTEX_BASE_URL",
        price_id="google",
        models=GEMINI_MODELS,
        note="Gemini in Google Cloud; does not stream arguments",
    ),
    Vendor(
        name="bedrock",
        title="Amazon Bedrock",
        apis=("anthropic_messages",),
        keys=("AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_AWS_API_KEY"),
        other_secrets=("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
        identity=Identity(
            module="boto3",
            extra="bedrock",
            variables=(
                "AWS_ACCESS_KEY_ID",
                "AWS_WEB_IDENTITY_TOKEN_FILE",
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            ),
            files=("$AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials", "$AWS_CONFIG_FILE", "~/.aws/config"),
            remedy="aws configure",
        ),
        client_options=(
            ClientOption(
                name="aws_region",
                variables=("AWS_REGION", "AWS_DEFAULT_REGION"),
                meaning="a region in which you have access to the model, such as eu-central-1",
            ),
        ),
        recommended="anthropic.claude-opus-5-5",
        name_prefixes=("anthropic.claude", "global.anthropic.claude"),
        base_url_variable="ANTHROPIC_BEDROCK_MANTLE_BASE_URL",
        price_id="aws",
        models=ANTHROPIC_MODELS,
        note="Claude in AWS; Messages API",
    ),
    Vendor(
        name="ollama",
        title="Ollama",
        keys=("OLLAMA_API_KEY",),
        recommended="qwen3",
        base_url="http://localhost:11434/v1",
        base_url_variable="OLLAMA_BASE_URL",
        local=True,
        note="on your machine; what it can do depends on the model",
    ),
    Vendor(
        name="lmstudio",
        title="LM Studio",
        base_url="http://localhost:1234/v1",
        base_url_variable="LMSTUDIO_BASE_URL",
        local=True,
        note="on your machine; name the model you loaded",
    ),
    Vendor(
        name="vllm",
        title="vLLM",
        keys=("VLLM_API_KEY",),
        base_url="http://localhost:8000/v1",
        base_url_variable="VLLM_BASE_URL",
        local=True,
        effort_fields=_TEMPLATE_EFFORT,
        no_effort_fields=_TEMPLATE_NO_EFFORT,
        note="on your machine; name the model you serve",
    ),
    Vendor(
        name="llamacpp",
        title="llama.cpp",
        recommended="default",
        base_url="http://localhost:8080/v1",
        base_url_variable="LLAMACPP_BASE_URL",
        local=True,
        effort_fields=_TEMPLATE_EFFORT,
        no_effort_fields=_TEMPLATE_NO_EFFORT,
        note="on your machine; serves the one model it was started with",
    ),
    Vendor(
        name="chat",
        title=YOUR_SERVER,
        base_url_variable="CHAT_BASE_URL",
        local=True,
        note="any OpenAI-compatible server: set CHAT_BASE_URL, or `base_url` in Python",
    ),
    Vendor(
        name=DEMO,
        title="The demo",
        apis=(DEMO,),
        price_id=FREE,
        note="offline and scripted",
    ),
    Vendor(
        name=REPLAY,
        title="The replay",
        apis=(REPLAY,),
        note="a recorded run, by the path of its cassette",
    ),
    Vendor(
        name=ACP,
        title="An outside agent",
        apis=(ACP,),
        note="a program on your machine with a model and tools of its own",
    ),
)

VENDORS: dict[str, Vendor] = {row.name: row for row in _ROWS}
