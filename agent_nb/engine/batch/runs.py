"""The jobs of `agent.map`, each prompt on each model, and their runs: in memory, as a table, and in a folder."""

import json
import os
import re
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, Self, Unpack, overload

from agent_nb._base.atomic import check_place, folder_of, write_atomically
from agent_nb._base.log import log
from agent_nb._base.secrets import mask
from agent_nb._base.text import sha256
from agent_nb._base.wire import Json
from agent_nb.core.errors import AgentError, ConfigError, InstallError, MissingKeyError, SavedRunError
from agent_nb.core.messages import Usage
from agent_nb.engine.run_input import InputArgs, as_sequence
from agent_nb.engine.start import Prepared, check_recording
from agent_nb.images.pdf import to_attachment
from agent_nb.providers import full_name
from agent_nb.providers.base import Piece, Provider, Request
from agent_nb.run.compare import Checks, Comparison, Figures, comparison
from agent_nb.run.run import Run, total_cost
from agent_nb.run.run_lines import SUFFIX
from agent_nb.run.run_reader import load
from agent_nb.run.run_writer import run_file

Prompts = Mapping[str, str] | Iterable[str | tuple[str, str]]
"""Texts, `(name, text)` pairs, or a dict of names and texts."""
Models = Iterable[str | Provider] | str | Provider | None
_KEY = re.compile(r"-([0-9a-f]{12}(?:-\d+)?)" + re.escape(SUFFIX))
MOST_LOADED = 256


class BatchAgent(Protocol):
    @property
    def model(self) -> Provider: ...

    async def run(self, prompt: str, **input_args: Unpack[InputArgs]) -> Run: ...

    def replace(self, *, model: str | Provider) -> Self: ...

    def prepare(self, prompt: str, **input_args: Unpack[InputArgs]) -> Prepared: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    label: str
    named_model: str
    """The model name given by the caller; the run has the full name."""
    agent: BatchAgent
    input_args: InputArgs
    """The run's inputs besides its prompt; the same for all jobs of a call."""
    prepared: Prepared
    key: str
    """Short hash of the request; part of the saved run's file name, by which it is found again."""
    close: Callable[[], Awaitable[None]] | None
    """Closes the model if it was created for this call; jobs of one model share it."""

    @property
    def prompt(self) -> str:
        return self.prepared.run_input.prompt

    @property
    def provider(self) -> Provider:
        return self.prepared.provider


class UnavailableModel(Provider):
    """Placeholder for an unusable model, for example without a key. Its saved runs can still be loaded."""

    def __init__(self, name: str, error: AgentError) -> None:
        self.name, self.error = name, error

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        raise self.error


def plan_jobs(
    agent: BatchAgent, prompts: Prompts, models: Models, input_args: InputArgs, *, saved: bool
) -> list[Job]:
    """The jobs in order: the first prompt on every model, then the second.

    If runs are `saved`, a model without a key is not an error yet: all its runs may be loaded.
    """
    images = tuple(to_attachment(image) for image in as_sequence(input_args.get("images")))
    input_args = {**input_args, "images": images}
    agents = list(_agents(agent, models, saved=saved))
    jobs: list[Job] = []
    repeats: Counter[str] = Counter()
    for label, prompt in _labelled(prompts):
        for named_model, batch_agent, close in agents:
            prepared = batch_agent.prepare(prompt, **input_args)
            check_recording(prepared)
            request = prepared.fingerprint()
            repeats[key_of(request)] += 1
            job = Job(
                label=label,
                named_model=named_model,
                agent=batch_agent,
                input_args=input_args,
                prepared=prepared,
                key=key_of(request, repeats[key_of(request)]),
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
                raise ConfigError(f"Prompt {number} is empty. Describe what the model should make.")
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
    """Yield each model's name as given, an agent that uses it, and a function that closes a newly created model."""
    if models is None:
        yield agent.model.name, agent, None
        return
    model_list = list(models) if isinstance(models, Iterable) and not isinstance(models, str) else [models]
    if not model_list:
        raise ConfigError("There are no models. Name one, such as 'demo:', or leave `models` out.")
    for model in model_list:
        if not isinstance(model, str):
            yield model.name, agent.replace(model=model), None
            continue
        try:
            model_agent = agent.replace(model=model)
        except (MissingKeyError, InstallError) as error:
            if not saved:
                raise
            model_agent = agent.replace(model=UnavailableModel(full_name(model), error))
        yield model, model_agent, model_agent.close


class Store:
    """The runs in one folder. Reading and writing block: call them in a thread."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(os.path.expanduser(folder)).absolute()
        try:
            check_place(self.folder / "x", folder_of(folder, Path.cwd()))
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"Runs cannot be saved in {str(folder)!r}: {error.strerror}.") from None
        self._names: dict[str, str] = {}
        """File names by key, found by the last `find` or written since."""

    def find(self, requests: Iterable[tuple[str, str]]) -> Iterator[Run | None]:
        """Yield the saved run for each key and prompt; None unless it ended normally."""
        names = sorted(path.name for path in self.folder.glob(f"*{SUFFIX}"))
        self._names = {match[1]: name for name in names if (match := _KEY.search(name))}
        for key, prompt in requests:
            yield self._read(self.folder / name, prompt) if (name := self._names.get(key)) else None

    def load(self, key: str) -> Run:
        """Load a run found or written earlier; raise `SavedRunError` if it cannot be read."""
        return load(self.folder / self._names[key])

    def save(self, run: Run, key: str, label: str) -> None:
        """Write the run atomically, with secrets masked. It replaces an earlier run of the same key."""
        name = self._names.setdefault(key, f"{_slug(label)}-{_slug(run.model)}-{key}{SUFFIX}")
        write_atomically(self.folder / name, run_file(run), within=self.folder)

    def _read(self, path: Path, prompt: str) -> Run | None:
        """The run, or None if it is damaged, has another prompt, or did not end normally."""
        try:
            run = load(path)
        except SavedRunError as error:
            log.warning(str(error))
            return None
        return run if run.reason == "end_turn" and run.prompt == mask(prompt) else None


class Results:
    """The runs of a batch by the index of their job.

    Saved runs may be evicted from memory and read again on access. The table's figures always stay in memory.
    """

    def __init__(self, jobs: Sequence[Job], store: Store | None) -> None:
        self.jobs = tuple(jobs)
        self.figures: list[Figures | None] = [None] * len(self.jobs)
        self._store = store
        self._unsaved: dict[int, Run] = {}
        self._loaded: OrderedDict[int, Run] = OrderedDict()
        """Saved runs in memory, least recently used first."""
        self._ids: dict[int, str] = {}
        """Ids of the saved runs, because a later batch may replace a file."""

    def name(self, index: int) -> str:
        """The name of a run, such as `runs[0]`: an expression that works if the batch is assigned to `runs`."""
        return f"runs[{index}]"

    def key(self, index: int) -> str:
        return f"runs-{self.jobs[index].key}"

    def add(self, index: int, run: Run, *, saved: bool = False) -> None:
        """Add a run; `saved` if its file contains the same run."""
        self.figures[index] = Figures.of(run)
        if saved:
            self._ids[index] = run.id
            self._remember(index, run)
        else:
            self._unsaved[index] = run

    def find_saved(self) -> int:
        """Add the runs that earlier batches saved; return how many. Blocks: call it in a thread."""
        if self._store is None:
            return 0
        for index, run in enumerate(self._store.find((job.key, job.prompt) for job in self.jobs)):
            if run is not None:
                self.add(index, self._with_name(index, run), saved=True)
        return len(self._ids)

    def save(self, index: int, run: Run) -> bool:
        """Write a run to the store; return whether it may be evicted from memory. Blocks: call it in a thread.

        It may not be evicted if its file differs from it, for example because a secret was masked, or if a later batch
        would replace the file because the run did not end normally.
        """
        if self._store is None:
            return False
        job = self.jobs[index]
        self._store.save(run, job.key, job.label)
        if len(self.jobs) <= MOST_LOADED or run.reason != "end_turn":
            return False
        try:
            return self._store.load(job.key) == run
        except SavedRunError:
            return False

    def __getitem__(self, index: int) -> Run:
        if index in self._unsaved:
            return self._unsaved[index]
        run = self._loaded.get(index) or self._load(index)
        self._remember(index, run)
        return run

    def _remember(self, index: int, run: Run) -> None:
        self._loaded.pop(index, None)
        self._loaded[index] = run
        while len(self._loaded) > MOST_LOADED:
            self._loaded.popitem(last=False)

    def _load(self, index: int) -> Run:
        assert self._store is not None, "only saved runs leave memory"
        try:
            run = self._store.load(self.jobs[index].key)
        except SavedRunError as error:
            raise SavedRunError(f"`{self.name(index)}` cannot be loaded again. {error}") from None
        if run.id != self._ids[index]:
            raise SavedRunError(
                f"`{self.name(index)}` cannot be loaded again: another run has replaced its file in"
                f" {str(self._store.folder)!r}."
            )
        return self._with_name(index, run)

    def _with_name(self, index: int, run: Run) -> Run:
        return replace(run, name=self.name(index), key=self.key(index))

    def __getstate__(self) -> dict[str, Any]:
        """A pickle contains every run: the folder may not exist where it is loaded."""
        runs = {index: self[index] for index, figures in enumerate(self.figures) if figures is not None}
        return {**self.__dict__, "_store": None, "_unsaved": runs, "_loaded": OrderedDict(), "_ids": {}}


class Runs(Sequence[Run]):
    """The runs of `agent.map`: the first prompt on every model, then the second; `runs[prompt, model]` finds one.

    They are displayed as a table; `rows()` returns it as plain dicts.
    """

    def __init__(self, results: Results, indices: Sequence[int], loaded: int = 0) -> None:
        self._results, self._indices = results, indices
        self.loaded = loaded
        """Number of runs loaded from the folder instead of executed."""

    @overload
    def __getitem__(self, index: int | tuple[str, str]) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> "Runs": ...
    def __getitem__(self, index: int | slice | tuple[str, str]) -> "Run | Runs":
        if isinstance(index, slice):
            return Runs(self._results, self._indices[index])
        if not isinstance(index, tuple):
            return self._results[self._indices[index]]
        prompt, model = index
        for place, job, figures in zip(self._indices, self._jobs, self._figures, strict=True):
            if prompt in (job.label, job.prompt) and model in (job.named_model, figures.row["model"]):
                return self._results[place]
        models = ", ".join(dict.fromkeys(job.named_model for job in self._jobs))
        raise KeyError(f"No run of {prompt!r:.60} on {model!r}; the models are {models}.")

    def __len__(self) -> int:
        return len(self._indices)

    @property
    def usage(self) -> Usage:
        """Tokens of all runs."""
        return sum((figures.usage for figures in self._figures), Usage())

    @property
    def cost(self) -> float | None:
        """US dollars for all runs; None if a price is unknown."""
        return total_cost([figures.row["cost"] for figures in self._figures])

    def rows(self) -> list[Json]:
        """One plain dict per run, for example for `pandas.DataFrame(runs.rows())`."""
        return self._comparison().rows()

    def compare(self, checks: Checks = ()) -> Comparison:
        """The table with a column for each check; `run.compare` takes the same checks."""
        table = self._comparison()
        return comparison(self, table.names, table.prompts, checks)

    def __repr__(self) -> str:
        return repr(self._comparison())

    def _repr_html_(self) -> str:
        return self._comparison()._repr_html_()

    @property
    def _jobs(self) -> list[Job]:
        return [self._results.jobs[index] for index in self._indices]

    @property
    def _figures(self) -> list[Figures]:
        return [figures for index in self._indices if (figures := self._results.figures[index])]

    def _comparison(self) -> Comparison:
        names = tuple(map(self._results.name, self._indices))
        return Comparison(tuple(self._figures), names, tuple(job.label for job in self._jobs))


def _slug(text: str) -> str:
    return re.sub(r"\W+", "-", mask(text).lower())[:32].strip("-") or "run"
