"""Decides whether a marimo cell asks its model or plays a cassette. marimo runs cells again, so it plays if it can."""

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import check_place, folder_of
from agent_nb._base.constants import MODEL_VARIABLE
from agent_nb._base.model_name import DEMO_MODEL
from agent_nb._base.text import sha256
from agent_nb.agent import Agent
from agent_nb.cassette import locate
from agent_nb.engine.approval_rules import Policy
from agent_nb.engine.limits import Limits
from agent_nb.engine.opening import Material
from agent_nb.engine.prepared import Prepared
from agent_nb.errors import CassetteError, ConfigError
from agent_nb.looking.chromium import installed_viewer
from agent_nb.notebook.cell_request import CassettePlan, Mode, Request, all_demo, providers, read_mode
from agent_nb.notebook.live.viewer import LiveViewer
from agent_nb.providers import default_model_name, full_name
from agent_nb.providers.base import Provider
from agent_nb.run.run import request_key
from agent_nb.tools import Tool

CACHE = "__marimo__/agent_nb"
"""Where runs are recorded that nobody asked to record; marimo keeps its own caches in this folder."""
_AGENT_OPTIONS = ("tools", "system", "limits", "approve", "middleware")
_MATERIAL = ("files", "images", "base", "messages")


class Options(Material, total=False):
    """What `agent_nb.marimo.agent` takes besides the prompt and the name."""

    agent: Agent
    model: str | Provider
    models: Sequence[str | Provider]
    variants: int
    tools: Iterable[Tool | Callable[..., Any]] | None
    system: str | None
    limits: Limits | None
    approve: Policy
    middleware: Iterable[Any]
    pace: float
    """How fast the demo model and a replay are: 1 as recorded, 0 at once."""
    cassette: str | PathLike[str]
    record: bool
    replay: bool
    live: bool
    force: bool
    """With `record`, replaces the cassette of another prompt."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What a cell asks, before it is known whether a cassette or a model answers."""

    prompt: str
    name: str
    options: Options
    folder: Path
    """Where relative paths start: the notebook's folder. marimo knows it only in the kernel's own thread."""
    demo_pace: float = 0

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ConfigError(f"`name` is the name of a variable, such as `hero`, not {self.name!r}.")
        given = [option for option in ("model", *_AGENT_OPTIONS) if option in self.options]
        if "agent" in self.options and given:
            raise ConfigError(f"`agent` has everything already: leave out `{given[0]}`.")

    def prepare(self) -> list[Prepared]:
        """The run of each variant, ready to start. Reads files."""
        chosen, default = read_mode(self.options, "`{}`")
        mode, pace = chosen or default or "auto", self.options.get("pace", self.demo_pace)
        request = self._request(mode)
        if mode in ("auto", "replay") and (prepared := request.replay(self.options.get("pace", 0))):
            return prepared
        if mode == "replay" and not all_demo(self._model_names):
            raise CassetteError(
                f"There is no cassette of this request: {' or '.join(self._cassettes)}. "
                "`record=True` writes one, `live=True` asks the model."
            )
        return request.ask(providers(self._models, pace), None if mode == "live" else self._target(mode))

    def _request(self, mode: Mode) -> Request:
        path, *others = self._cassettes
        plan = CassettePlan(
            mode="auto" if mode == "replay" else mode,
            path=path,
            others=tuple(others),
            folder=self.folder,
            named_models=tuple(self._model_names),
            force=self.options.get("force", False),
            is_preferred=True,
        )
        given: dict[str, Any] = {**self.options}
        material: Any = {name: given[name] for name in _MATERIAL if name in given}
        variants = self.options.get("variants", 1)
        return Request(
            prompt=self.prompt, material=material, variants=variants, cassette=plan, make_agent=self._agent
        )

    @cached_property
    def key(self) -> str:
        """Identifies the output, and the recording: the same request has the same key."""
        options = self.options
        base = options.get("base")
        files = {path: sha256(content) for path, content in (options.get("files") or {}).items()}
        images = [sha256(image.data) for image in options.get("images") or ()]
        extras = (options.get("variants", 1), base and base.key, files, images, options.get("messages"))
        return request_key(self.name, self.prompt, self._model_names, options.get("system"), *extras)

    @property
    def _cassettes(self) -> list[str]:
        """The cassettes that may be played: one to be shared, and the one that was recorded here."""
        if cassette := self.options.get("cassette"):
            return [Path(cassette).as_posix()]
        return [f"cassettes/{self.name}.jsonl", f"{CACHE}/{self.key}.jsonl"]

    @cached_property
    def _models(self) -> Sequence[str | Provider]:
        if models := self.options.get("models"):
            return [models] if isinstance(models, str) else models
        if "agent" in self.options:
            return [self.options["agent"].provider]
        default = os.environ.get(MODEL_VARIABLE) or default_model_name() or DEMO_MODEL
        return [self.options.get("model", default)]

    @property
    def _model_names(self) -> list[str]:
        return [full_name(model) if isinstance(model, str) else model.name for model in self._models]

    def _target(self, mode: Mode) -> str:
        """Where to record. A recording that could not be played is replaced, unless the user asked for it."""
        shared, *here = self._cassettes
        if mode == "record" or not here:
            return shared
        with contextlib.suppress(OSError):
            old = locate(here[0], self.folder)
            check_place(old, folder_of(here[0], self.folder))
            old.unlink(missing_ok=True)
        return here[0]

    def _agent(self, provider: Provider) -> Agent:
        options: dict[str, Any] = {**self.options}
        if "agent" in options:
            return self.options["agent"].with_model(provider)
        agent = Agent(provider, **{name: options[name] for name in _AGENT_OPTIONS if name in options})
        return agent.with_viewer(LiveViewer(installed_viewer()))
