"""A run that has not started: its request and its fingerprint."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, Self, TypeVar

from agent_nb._base.constants import STACKS
from agent_nb._base.read_only import ReadOnly
from agent_nb._base.secrets import mask_json
from agent_nb._base.text import sha256
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError
from agent_nb.core.feature import Feature
from agent_nb.core.messages import Message, Text, ToolCall, ToolSpec, Usage
from agent_nb.core.run_settings import RunSettings
from agent_nb.engine.approval import ApprovalRules
from agent_nb.engine.middleware import Hooks
from agent_nb.engine.run_input import RunInput
from agent_nb.images.maker import Studio
from agent_nb.pages.page_check import PageViewer
from agent_nb.prompts import CHANGE_FROM_IMAGE, FROM_IMAGE, prompt_text
from agent_nb.providers.base import Provider
from agent_nb.providers.prices import price_of
from agent_nb.run.manifest import package_versions
from agent_nb.tools import Tool, Toolbox

_DIGITS = 16
Given = TypeVar("Given")


class Recording(Protocol):
    """The interface of a recording that runs use."""

    outcome: str
    """Where the cassette was written, or why it was not."""

    def follow(self, handles: Sequence[Any]) -> None:
        """Write the cassette once all these runs, each a `RunHandle`, have ended."""

    def end(self, run: Any) -> None:
        """Write the cassette of a run that has ended, with all its variants. Only the one that counts must be whole."""

    async def written(self) -> None:
        """Wait until it is written."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PreparedRun:
    """Everything a run needs before it starts. `Prepared` in `engine/start.py` can also start it.

    Its mappings are read-only copies.
    """

    run_input: RunInput
    settings: RunSettings
    """The requested settings, merged with those of the model and of the base run."""
    recorded_settings: Mapping[str, Any]
    """The future `run.settings`, without values that are only known once the run has started."""
    provider: Provider
    toolbox: Toolbox
    all_tools: Toolbox
    system: str
    rules: ApprovalRules
    hooks: Hooks
    studio: Studio | None
    viewer: PageViewer | None
    """Renders the run's page for checks; None if unavailable."""
    record: "Recorder | None"
    bind: Callable[[str, int], None] | None = None
    """Binds a starting variant's page to the notebook, given the run id and variant index."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """What was given for features, by name; `get` reads it."""
    runs_by: Literal["engine", "agent", "recording"] = "engine"
    """Whether turns are those of the engine, of an outside agent, or of a recording."""
    kept: Mapping[str, Any] = field(default_factory=dict)
    """What features keep for their part in the run, by their names."""
    specs: frozenset[str] | None = None
    """The only tools that are named to the model; None for all."""

    def __post_init__(self) -> None:
        for name in ("recorded_settings", "given", "kept"):
            object.__setattr__(self, name, ReadOnly(getattr(self, name)))
        if self.settings.data and self.hooks.on_request and self.runs_by == "engine":
            raise ConfigError(
                "Middleware with `on_request` may add values, and this run sends none (`--data schema`)."
            )

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools offered to the model: those whose requirements this model and prompt meet."""
        specs = self.toolbox.specs
        return specs if self.specs is None else tuple(spec for spec in specs if spec.name in self.specs)

    @property
    def left_out(self) -> tuple[str, ...]:
        """One warning per tool that cannot be sent to this vendor.

        Raises `ConfigError` if there are more tools than the vendor accepts.
        """
        return self.provider.left_out(self.tools)

    def get(self, feature: Feature[Given]) -> Given | None:
        return self.given.get(feature.name)

    def with_section(self, text: str, **recorded: Any) -> Self:
        """The same request with a text before the user's instructions, and these settings of features."""
        own = self.settings.instructions or ""
        texts = (self.system.removesuffix(own).rstrip(), text, own)
        of_features = ReadOnly({**self.settings.of_features, **recorded})
        return replace(
            self,
            system="\n\n".join(filter(None, texts)),
            settings=replace(self.settings, of_features=of_features),
            recorded_settings={**self.recorded_settings, **recorded},
        )

    def fingerprint(self) -> Json:
        """Identify equal requests: prompt, model, the user's texts, images, files, tools, effort."""
        return {
            **variants_fingerprint([self]),
            "toolbox": self.all_tools.chosen,
            **self.settings.matched_in_batch(),
        }

    def price(self, usage: Usage, answered_by: str = "") -> float | None:
        """US dollars for these tokens of an answer by this model, or None if the price is unknown."""
        return price_of(self.provider.name, usage, self.settings.priced(), answered_by)

    def check_price(self) -> None:
        """Raise `ConfigError` if the model's price is unknown, because no budget could be enforced."""
        if self.price(Usage(input=1, output=1)) is None:
            raise ConfigError(
                f"A budget needs a known price, and {self.provider.name!r} has none. Leave the budget out, "
                "or limit `steps` and `seconds` instead."
            )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.provider.name}: {self.run_input.prompt!r:.60}>"


Recorder = Callable[[Sequence[PreparedRun]], Recording]
"""Opens a recording for variants about to start."""


def digest(value: Any) -> str:
    return sha256(value if isinstance(value, bytes) else json.dumps(value, sort_keys=True))[:_DIGITS]


def tool_digest(tool: Tool) -> str:
    spec = {"description": tool.spec.description, "schema": tool.spec.schema}
    # A cassette contains the masked spec of a server's tool.
    return digest(mask_json(spec) if tool.origin else spec)


def variants_fingerprint(variants: Sequence[PreparedRun]) -> Json:
    """The fingerprint of these variants, with secrets masked. They differ only in the model."""
    first = variants[0]
    run_input = first.run_input
    own_tools = [tool for tool in first.toolbox.own if not tool.in_settings]
    own_system = "\n\n".join(text for text in (run_input.system, first.settings.instructions) if text)
    fingerprint: Json = {
        "prompt": run_input.prompt,
        "model": first.provider.name,
        "system": own_system,
        "images": [{"name": image.name, "sha256": digest(image.data)} for image in run_input.attachments],
        "files": {path: digest(content) for path, content in (run_input.files or {}).items()},
        "tools": {tool.name: digest(tool.name) if tool.packaged else tool_digest(tool) for tool in own_tools},
        "history": history_digest(run_input.history),
        **first.settings.matched(),
    }
    if servers := {tool.name: tool.origin for tool in own_tools if tool.origin}:
        fingerprint["servers"] = servers
    if len(variants) > 1:
        fingerprint["variants"] = [variant.provider.name for variant in variants]
    return mask_json(fingerprint)  # type: ignore[no-any-return]


def release_fingerprint(prepared: PreparedRun) -> Json:
    texts = ["system", "look", "no_look", "sum_up", FROM_IMAGE, CHANGE_FROM_IMAGE]
    if (stack := prepared.settings.stack) in STACKS:
        texts.append(f"stacks/{stack}")
    tools = [tool for tool in Toolbox.default() if tool.name in prepared.toolbox]
    return {
        "prompts": {name: digest(prompt_text(name)) for name in texts},
        "tools": {tool.name: tool_digest(tool) for tool in tools},
        "versions": {**package_versions()},
    }


def history_digest(history: Sequence[Message]) -> str:
    if not history:
        return ""
    return digest(mask_json([_content(message) for message in history if not _is_built_in(message)]))


def _is_built_in(message: Message) -> bool:
    """Whether to leave a message out of the digest: its wording may change between releases."""
    has_summary = any(isinstance(part, Text) and part.origin == "summary" for part in message.parts)
    return message.role == "tool" or not message.requests or has_summary


def _content(message: Message) -> list[Any]:
    content: list[Any] = [message.role]
    for part in message.parts:
        match part:
            case Text(text, origin=None):
                content.append(text)
            case ToolCall(name=name, arguments=arguments):
                content.append([name] if part.shortened else [name, arguments])
    return content
