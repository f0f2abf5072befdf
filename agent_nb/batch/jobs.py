"""Plans `agent.map`: each prompt on each model is a job. Arguments are checked before anything is sent."""

import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, Unpack

from agent_nb._base.text import sha256
from agent_nb._base.wire import Json
from agent_nb.engine.opening import Material, as_sequence
from agent_nb.engine.prepared import Prepared, check_recording
from agent_nb.errors import AgentError, ConfigError, InstallError, MissingKeyError
from agent_nb.images.convert import to_image
from agent_nb.providers import full_name
from agent_nb.providers.base import Piece, Provider, Request
from agent_nb.run import Run

Prompts = Mapping[str, str] | Iterable[str | tuple[str, str]]
"""Texts, `(name, text)` pairs, or a dict of names and texts."""
Models = Iterable[str | Provider] | str | Provider | None


class BatchAgent(Protocol):
    provider: Provider

    async def run(self, prompt: str, **material: Unpack[Material]) -> Run: ...

    def with_model(self, model: str | Provider) -> Self: ...

    def prepare(self, prompt: str, **material: Unpack[Material]) -> Prepared: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    label: str
    named_model: str
    """The model as the caller named it; the run has its full name."""
    agent: BatchAgent
    material: Material
    """What the run is given besides its prompt; the same for all jobs of a call."""
    prepared: Prepared
    key: str
    """Short hash of the request; part of the name of the file of a saved run, which is loaded instead."""
    close: Callable[[], Awaitable[None]] | None
    """Closes the model if it was created for this call; jobs of one model share it."""

    @property
    def prompt(self) -> str:
        return self.prepared.opening.prompt

    @property
    def provider(self) -> Provider:
        return self.prepared.provider


class UnavailableModel(Provider):
    """Stands for a model that cannot be used, for example without a key. Its saved runs can still be loaded."""

    def __init__(self, name: str, error: AgentError) -> None:
        self.name, self.error = name, error

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        raise self.error


def plan_jobs(
    agent: BatchAgent, prompts: Prompts, models: Models, material: Material, *, saved: bool
) -> list[Job]:
    """The jobs in order: the first prompt on every model, then the second.

    If runs are `saved`, a model without a key is not an error yet: all its runs may be loaded.
    """
    images = tuple(to_image(image) for image in as_sequence(material.get("images")))
    material = {**material, "images": images}
    agents = list(_agents(agent, models, saved=saved))
    jobs: list[Job] = []
    seen: Counter[str] = Counter()
    for label, prompt in _labelled(prompts):
        for named_model, batch_agent, close in agents:
            prepared = batch_agent.prepare(prompt, **material)
            check_recording(prepared)
            request = prepared.fingerprint()
            seen[key_of(request)] += 1
            job = Job(
                label=label,
                named_model=named_model,
                agent=batch_agent,
                material=material,
                prepared=prepared,
                key=key_of(request, seen[key_of(request)]),
                close=close,
            )
            jobs.append(job)
    return jobs


def key_of(request: Json, repeat: int = 1) -> str:
    digest = sha256(json.dumps(request, sort_keys=True, ensure_ascii=False))[:12]
    return digest if repeat == 1 else f"{digest}-{repeat}"


def _labelled(prompts: Prompts) -> list[tuple[str, str]]:
    if isinstance(prompts, str):
        raise ConfigError("`prompts` is a single text. Give a list of texts, or use `agent.run(prompt)`.")
    items: Iterable[Any] = prompts.items() if isinstance(prompts, Mapping) else prompts
    pairs: list[tuple[str, str]] = []
    texts: dict[str, str] = {}
    for number, item in enumerate(items, 1):
        match item:
            case str(text) | (str(), str(text)) if not text.strip():
                raise ConfigError(f"Prompt {number} is empty. Describe what you want to be made.")
            case str(text):
                label = text
            case (str(label), str(text)):
                pass
            case _:
                raise ConfigError(f"Prompt {number} is {item!r:.60}. Give a text, or a (name, text) pair.")
        if texts.setdefault(label, text) != text:
            raise ConfigError(f"Two prompts are called {label!r:.60}. Give each its own name.")
        pairs.append((label, text))
    if not pairs:
        raise ConfigError("There are no prompts. Give a list of texts, or a dict of names and texts.")
    return pairs


def _agents(
    agent: BatchAgent, models: Models, *, saved: bool
) -> Iterator[tuple[str, BatchAgent, Callable[[], Awaitable[None]] | None]]:
    """For each model: its name as given, an agent that uses it, and how to close the model if it is new."""
    if models is None:
        yield agent.provider.name, agent, None
        return
    named = list(models) if isinstance(models, Iterable) and not isinstance(models, str) else [models]
    if not named:
        raise ConfigError("There are no models. Name one, such as 'demo:', or leave `models` out.")
    for model in named:
        if not isinstance(model, str):
            yield model.name, agent.with_model(model), None
            continue
        try:
            other = agent.with_model(model)
        except (MissingKeyError, InstallError) as error:
            if not saved:
                raise
            other = agent.with_model(UnavailableModel(full_name(model), error))
        yield model, other, other.close
