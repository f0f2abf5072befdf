"""The table of vendors: one row per name before the colon in `vendor:model`. Nothing heavy is imported."""

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """What there is to know about a vendor before its SDK is loaded."""

    name: str
    title: str
    target: str
    """`module:Class` of the provider, imported on first use."""
    package: str = ""
    """What to install when the SDK is missing."""
    keys: tuple[str, ...] = ()
    """The variables that may hold the key, first wins; a local server's is optional."""
    recommended: str = ""
    """The model for an empty name; empty when only the person can know."""
    base_url: str = ""
    base_url_variable: str = ""
    local: bool = False
    """A server on the person's own machine: no key needed, no price, patient with the first byte."""
    thinking: bool = True
    images: bool = True
    streams_arguments: bool = True
    note: str = ""
    image_target: str = ""
    """`module:Class` of what makes pictures; empty for vendors that make none."""
    image_model: str = ""


_CHAT = "agent_nb.providers.chat:ChatProvider"

_ROWS = (
    Vendor(
        name="anthropic",
        title="Anthropic",
        target="agent_nb.providers.anthropic:AnthropicProvider",
        package="anthropic",
        keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        recommended="claude-opus-5-5",
        base_url_variable="ANTHROPIC_BASE_URL",
        note="Messages API",
    ),
    Vendor(
        name="openai",
        title="OpenAI",
        target="agent_nb.providers.openai:OpenAIProvider",
        package="openai",
        keys=("OPENAI_API_KEY",),
        recommended="gpt-6.1-sol",
        base_url_variable="OPENAI_BASE_URL",
        note="Responses API",
        image_target="agent_nb.providers.openai_image_maker:OpenAIImageMaker",
        image_model="gpt-image-2.6-sunburst",
    ),
    Vendor(
        name="gemini",
        title="Gemini",
        target="agent_nb.providers.gemini:GeminiProvider",
        package="google-genai",
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        recommended="gemini-4-argon",
        base_url_variable="GOOGLE_GEMINI_BASE_URL",
        note='Interactions API; `api="generate_content"` for the older one, which does not stream arguments',
        image_target="agent_nb.providers.gemini_image_maker:GeminiImageMaker",
        image_model="gemini-nano-banana-2.1",
    ),
    Vendor(
        name="openrouter",
        title="OpenRouter",
        target=_CHAT,
        package="openai",
        keys=("OPENROUTER_API_KEY",),
        recommended="anthropic/claude-opus-5.5",
        base_url="https://openrouter.ai/api/v1",
        note="many vendors behind one key",
    ),
    Vendor(
        name="deepseek",
        title="DeepSeek",
        target=_CHAT,
        package="openai",
        keys=("DEEPSEEK_API_KEY",),
        recommended="deepseek-v4-pro",
        base_url="https://api.deepseek.com",
        images=False,
    ),
    Vendor(
        name="ollama",
        title="Ollama",
        target=_CHAT,
        package="openai",
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
        target=_CHAT,
        package="openai",
        base_url="http://localhost:1234/v1",
        base_url_variable="LMSTUDIO_BASE_URL",
        local=True,
        note="on your machine; name the model you loaded",
    ),
    Vendor(
        name="vllm",
        title="vLLM",
        target=_CHAT,
        package="openai",
        keys=("VLLM_API_KEY",),
        base_url="http://localhost:8000/v1",
        base_url_variable="VLLM_BASE_URL",
        local=True,
        note="on your machine; name the model you serve",
    ),
    Vendor(
        name="llamacpp",
        title="llama.cpp",
        target=_CHAT,
        package="openai",
        recommended="default",
        base_url="http://localhost:8080/v1",
        base_url_variable="LLAMACPP_BASE_URL",
        local=True,
        note="on your machine; serves the one model it was started with",
    ),
    Vendor(
        name="chat",
        title="The server",
        target=_CHAT,
        package="openai",
        local=True,
        base_url_variable="CHAT_BASE_URL",
        note="any OpenAI-compatible server: give `base_url` or CHAT_BASE_URL, and `api_key` if it wants one",
    ),
    Vendor(
        name="demo",
        title="The demo",
        target="agent_nb.demo:DemoProvider",
        note="offline, scripted, needs no key",
    ),
    Vendor(
        name="replay",
        title="The replay",
        target="agent_nb.cassette:replay",
        note="a recorded run, by the path of its cassette",
    ),
)

VENDORS: dict[str, Vendor] = {row.name: row for row in _ROWS}

PREFERRED = ("anthropic", "openai", "gemini")
"""Whose key decides the default model, in this order."""


def load(target: str) -> Any:
    """Imports what a `module:Class` target names."""
    module_name, _, class_name = target.partition(":")
    return getattr(importlib.import_module(module_name), class_name)
