"""A run that has not started: its request, its fingerprint, and functions that start it."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, runtime_checkable

from agent_nb._base.log import log
from agent_nb._base.secrets import mask, mask_json
from agent_nb._base.text import sha256
from agent_nb._base.wire import Json
from agent_nb.engine.approval import ApprovalRules
from agent_nb.engine.compaction import Window
from agent_nb.engine.handle import Handle, Recording, RunHandle
from agent_nb.engine.journal import OBSERVERS, EventLog
from agent_nb.engine.loop import EngineRun, VariantGroup
from agent_nb.engine.middleware import Hooks, Listener
from agent_nb.engine.opening import Opening
from agent_nb.errors import CassetteError, ConfigError
from agent_nb.events import Reason
from agent_nb.files import Files
from agent_nb.images.maker import Studio
from agent_nb.looking.element_look import Element
from agent_nb.looking.page_check import PageViewer
from agent_nb.messages import Message, Text, ToolCall, ToolSpec, Usage
from agent_nb.prompts import (
    CHANGE_FROM_IMAGE,
    FROM_IMAGE,
    STACKS,
    has_note,
    is_about_images,
    is_built_in,
    prompt_text,
    summary_entries,
)
from agent_nb.providers.base import Provider
from agent_nb.providers.prices import price_of
from agent_nb.run.manifest import package_versions
from agent_nb.run.run import Run, combine_variants
from agent_nb.run_settings import RunSettings
from agent_nb.tools import Tool, Toolbox


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Prepared:
    """A run that has not started. `agent.prepare(prompt)` makes one; nothing is sent before `start()`."""

    opening: Opening
    settings: RunSettings
    """The requested settings, merged with those of the model and of the base run."""
    run_settings: Json
    """The future `run.settings`, without values that are only known once the run has started."""
    provider: Provider
    toolbox: Toolbox
    all_tools: Toolbox
    """All tools of the agent."""
    system: str
    rules: ApprovalRules
    hooks: Hooks
    studio: Studio | None
    viewer: PageViewer | None
    """Renders the run's page for checks; None if unavailable."""
    record: "Callable[[Sequence[Prepared]], Recording] | None"
    """Opens a recording for variants about to start."""
    bind: Callable[[str, int], None] | None = None
    """Binds a starting variant's page to the notebook, given the run id and variant index."""

    @property
    def maker(self) -> "RunMaker | None":
        """The provider, if it executes the run itself instead of the engine."""
        return self.provider if isinstance(self.provider, RunMaker) else None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far with the prompt as last message, compacted if it is too long."""
        window = Window(self)
        if shorter := window.before_turn(1):
            window.replace(shorter)
        return tuple(window.messages)

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools offered to the model: those whose requirements this model and prompt meet."""
        return self.toolbox.specs

    @property
    def left_out(self) -> tuple[str, ...]:
        """One warning per tool that cannot be sent to this vendor.

        Raises `ConfigError` if there are more tools than the vendor accepts.
        """
        return self.provider.left_out(self.tools)

    def fingerprint(self) -> Json:
        """Identify equal requests: prompt, model, the user's texts, images, files, tools, effort."""
        return {
            **variants_fingerprint([self]),
            "toolbox": self.all_tools.chosen,
            **self.settings.matched_in_batch(),
        }

    def price(self, usage: Usage) -> float | None:
        """US dollars for these tokens, or None if the price is unknown."""
        return price_of(self.provider.name, usage, self.settings.priced())

    def check_price(self) -> None:
        """Raise `ConfigError` if the model's price is unknown, because no budget could be enforced."""
        if self.price(Usage(input=1, output=1)) is None:
            raise ConfigError(
                f"A budget needs a known price, and {self.provider.name!r} has none. Leave the budget out, "
                "or limit `steps` and `seconds` instead."
            )

    def differences(self, models: Sequence[str | None] = (None,)) -> list[str]:
        """Differences between the request and the recording; empty if it can be replayed, or if this is not a replay.

        `models` contains one model per variant, or None for any model.
        """
        return self.maker.differences(self, models) if self.maker else []

    def pointing_at(self, elements: Sequence[Element], names: Iterable[str] = ()) -> "Prepared":
        """The same request with the appearance of these elements, captured just before it is sent.

        `names` are notebook names that may be sent even with `--data schema`.
        """
        opening = replace(self.opening, elements=tuple(elements), names=frozenset(names))
        return replace(self, opening=opening)

    def start(self) -> RunHandle:
        """Start the run in the running event loop."""
        return start_variants([self])[0]

    def __repr__(self) -> str:
        return f"<Prepared {self.provider.name}: {self.opening.prompt!r:.60}>"


@runtime_checkable
class RunMaker(Protocol):
    """A provider that executes whole runs itself, such as a replay, instead of the engine."""

    @property
    def variants(self) -> Sequence[Provider]:
        """One provider per variant."""

    def prepare(self, prepared: Prepared) -> Prepared:
        """The request as changed by this provider."""

    def differences(self, prepared: Prepared, models: Sequence[str | None]) -> list[str]:
        """See `Prepared.differences`."""

    def make_run(self, prepared: Prepared, group: VariantGroup, variant: int) -> RunHandle:
        """Start the run in the running event loop."""


def start_variants(variants: Sequence[Prepared]) -> list[RunHandle]:
    """Start these runs together, as variants of each other."""
    first = variants[0]
    check_recording(first, len(variants))
    for line in dict.fromkeys(line for prepared in variants for line in prepared.left_out):
        log.warning(line)
    recording = first.record(variants) if first.record else None
    fingerprint = {"yours": variants_fingerprint(variants), "ours": release_fingerprint(first)}
    group = VariantGroup(fingerprint=fingerprint)
    handles = [_start(prepared, group, number) for number, prepared in enumerate(variants)]
    if recording:
        recording.follow(handles)
    return handles


def check_recording(prepared: Prepared, variants: int = 1) -> None:
    """Raise `CassetteError` if the recording does not match the request."""
    if differences := prepared.differences([None] * variants):
        raise CassetteError(f"The cassette was recorded with {' and '.join(differences)}. Record it again.")


def _start(prepared: Prepared, group: VariantGroup, variant: int) -> RunHandle:
    make_run = prepared.maker.make_run if prepared.maker else EngineRun
    handle = make_run(prepared, group, variant)
    if prepared.bind is not None:
        prepared.bind(handle.id, variant)
    for make_observer in OBSERVERS:
        handle.subscribe(make_observer())
    for hook in prepared.hooks.on_event:
        listener = Listener(hook)
        handle.subscribe(listener)
        handle.settling.append(listener.drained)
    for subscriber in prepared.hooks.subscribers:
        handle.subscribe(subscriber)
    return handle


_DIGITS = 16


def digest(value: Any) -> str:
    return sha256(value if isinstance(value, bytes) else json.dumps(value, sort_keys=True))[:_DIGITS]


def tool_digest(tool: Tool) -> str:
    spec = {"description": tool.spec.description, "schema": tool.spec.schema}
    # A cassette contains the masked spec of a server's tool.
    return digest(mask_json(spec) if tool.origin else spec)


def variants_fingerprint(variants: "Sequence[Prepared]") -> Json:
    """The fingerprint of these variants, with secrets masked. They differ only in the model."""
    first = variants[0]
    opening, own_tools = first.opening, first.toolbox.own
    own_system = "\n\n".join(text for text in (opening.system, first.settings.instructions) if text)
    fingerprint: Json = {
        "prompt": opening.prompt,
        "model": first.provider.name,
        "system": own_system,
        "images": [{"name": image.name, "sha256": digest(image.data)} for image in opening.images],
        "files": {path: digest(content) for path, content in (opening.files or {}).items()},
        "tools": {tool.name: digest(tool.name) if tool.packaged else tool_digest(tool) for tool in own_tools},
        "history": history_digest(opening.history),
        **first.settings.matched(),
    }
    if servers := {tool.name: tool.origin for tool in own_tools if tool.origin}:
        fingerprint["servers"] = servers
    if len(variants) > 1:
        fingerprint["variants"] = [variant.provider.name for variant in variants]
    return mask_json(fingerprint)  # type: ignore[no-any-return]


def release_fingerprint(prepared: "Prepared") -> Json:
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
    return digest([_content(message) for message in history if not _is_built_in(message)])


def _is_built_in(message: Message) -> bool:
    """Whether to leave a message out of the digest: its wording may change between releases."""
    if message.role == "user":
        return is_built_in(message.text) or summary_entries(message.text) is not None
    return message.role == "tool"


def _content(message: Message) -> list[Any]:
    content: list[Any] = [message.role]
    for part in message.parts:
        match part:
            case Text(text):
                content += [] if is_about_images(text) else [mask(text)]
            case ToolCall(name=name, arguments=arguments):
                content.append([name] if has_note(arguments) else [name, mask(arguments)])
    return content


MOST_VARIANTS = 8


def count_variants(models: int, variants: int) -> int:
    if not isinstance(variants, int):
        raise ConfigError(f"`variants` must be a whole number, not {variants!r}.")
    total = max(1, models) * variants
    if not 1 <= total <= MOST_VARIANTS:
        raise ConfigError(f"There can be 1 to {MOST_VARIANTS} variants in all, not {total}.")
    return total


class Race(Handle):
    """Variants in progress: `await` it for their `Run`, iterate over it for events, `stop()` one or all."""

    def __init__(self, handles: Sequence[RunHandle]) -> None:
        super().__init__(handles[0].id, EventLog(), handles)
        self.handles = tuple(handles)
        self.settings = handles[0].settings
        self._event_log.on_interrupt = partial(self.stop, "interrupted")
        for handle in handles:
            handle.subscribe(self._event_log.publish)
            handle.when_done.append(self._settle)

    def label(self, name: str, key: str) -> None:
        super().label(name, key)
        for handle in self.handles:
            handle.label(name, key)

    def stop(self, reason: Reason = "stopped", number: int | None = None) -> None:
        for handle in self.handles:
            if number is None or handle.variant == number - 1:
                handle.stop(reason)

    def pick(self, number: int) -> None:
        """Make finished variant `number` (from 1) the result and stop the others."""
        if not 1 <= number <= len(self.handles):
            raise ConfigError(f"There is no variant {number}; there are 1 to {len(self.handles)}.")
        if not self.handles[number - 1].done:
            raise ConfigError(f"Variant {number} is still running. Wait for it or stop it, then pick.")
        self.chosen = number
        if self.result is not None:
            self.result = self.result.pick(number)
        self.stop()

    @property
    def files(self) -> Files:
        return self.result.files if self.result else self.files_of(0)

    async def _wait(self) -> Run:
        for handle in self.handles:
            await handle
        assert self.result is not None
        return self.result

    def __repr__(self) -> str:
        done = sum(handle.done for handle in self.handles)
        return f"<Race {self.name} {self.model}: {done} of {len(self.handles)} ended>"

    def _settle(self) -> None:
        results = [handle.result for handle in self.handles if handle.result is not None]
        if len(results) == len(self.handles):
            run = combine_variants(results)
            self.result = run if self.chosen is None else run.pick(self.chosen)
            self._event_log.close()
