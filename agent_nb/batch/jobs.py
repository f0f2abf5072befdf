"""What `agent.map` is asked to do, checked before anything is sent: each prompt on each model is a job."""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, Unpack

from agent_nb._base.wire import Json
from agent_nb.batch.store import key_of
from agent_nb.engine.opening import Material, as_sequence
from agent_nb.engine.prepared import Prepared, check_recording
from agent_nb.errors import AgentError, ConfigError, InstallError, MissingKeyError
from agent_nb.images.convert import to_image
from agent_nb.providers import full_name
from agent_nb.providers.base import Clock, Piece, Provider, RealClock, Request

Prompts = Mapping[str, str] | Iterable[str | tuple[str, str]]
"""Texts, `(name, text)` pairs, or a dict of names and texts."""
Models = Iterable[str | Provider] | str | Provider | None


class Asker(Protocol):
    """An agent, as far as a batch needs it."""

    provider: Provider

    def with_model(self, model: str | Provider) -> Self: ...

    def prepare(self, prompt: str, **material: Unpack[Material]) -> Prepared: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One prompt on one model."""

    label: str
    """What the prompt is called: its name, else the text itself."""
    named_model: str
    """As the caller named it; the run has the full name."""
    prepared: Prepared
    request: Json
    """What must be the same for a saved run to be used again."""
    key: str
    """Identifies the request in the folder of saved runs."""
    close: Callable[[], Awaitable[None]] | None
    """Closes the model if it was made for this call; jobs of one model share it."""

    @property
    def prompt(self) -> str:
        return self.prepared.opening.prompt

    @property
    def provider(self) -> Provider:
        return self.prepared.config.provider


class Absent:
    """A model that cannot be asked here, such as for want of a key. Its saved runs can still be brought back."""

    def __init__(self, name: str, error: AgentError) -> None:
        self.name, self.error = name, error

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        raise self.error

    def new_clock(self) -> Clock:
        return RealClock()

    async def close(self) -> None:
        """Holds nothing open."""


def plan_jobs(
    agent: Asker, prompts: Prompts, models: Models, material: Material, *, saved: bool
) -> list[Job]:
    """The jobs in order: every model for the first prompt, then for the second.

    Where runs are `saved`, a model without a key is no error yet: it may not have to be asked.
    """
    images = tuple(to_image(image) for image in as_sequence(material.get("images")))
    material = {**material, "images": images}
    agents = list(_agents(agent, models, saved=saved))
    jobs: list[Job] = []
    seen: Counter[str] = Counter()
    for label, prompt in _questions(prompts):
        for named_model, asker, close in agents:
            prepared = asker.prepare(prompt, **material)
            check_recording(prepared)
            request = prepared.fingerprint()
            seen[key_of(request)] += 1
            job = Job(
                label=label,
                named_model=named_model,
                prepared=prepared,
                request=request,
                key=key_of(request, seen[key_of(request)]),
                close=close,
            )
            jobs.append(job)
    return jobs


def _questions(prompts: Prompts) -> list[tuple[str, str]]:
    """Each prompt with what it is called."""
    if isinstance(prompts, str):
        raise ConfigError("`prompts` is a single text. Give a list of texts, or use `agent.run(prompt)`.")
    given: Iterable[Any] = prompts.items() if isinstance(prompts, Mapping) else prompts
    found: list[tuple[str, str]] = []
    texts: dict[str, str] = {}
    for number, item in enumerate(given, 1):
        match item:
            case str(text) | (str(), str(text)) if not text.strip():
                raise ConfigError(f"Prompt {number} is empty. Say what you want made.")
            case str(text):
                label = text
            case (str(label), str(text)):
                pass
            case _:
                raise ConfigError(f"Prompt {number} is {item!r:.60}. Give a text, or a (name, text) pair.")
        if texts.setdefault(label, text) != text:
            raise ConfigError(f"Two prompts are called {label!r:.60}. Give each a name of its own.")
        found.append((label, text))
    if not found:
        raise ConfigError("There are no prompts. Give a list of texts, or a dict of names and texts.")
    return found


def _agents(
    agent: Asker, models: Models, *, saved: bool
) -> Iterator[tuple[str, Asker, Callable[[], Awaitable[None]] | None]]:
    """The agent on each model: the model as it was named, the agent, and how to close what was made."""
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
            made = agent.with_model(model)
        except (MissingKeyError, InstallError) as error:
            if not saved:
                raise
            made = agent.with_model(Absent(full_name(model), error))
        yield model, made, made.close
