"""Decides whether a marimo cell asks its model or plays a cassette. marimo runs cells again, so it plays if it can."""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import check_place, folder_of
from agent_nb._base.constants import MODE_VARIABLE, MODEL_VARIABLE
from agent_nb._base.model_name import DEMO_MODEL, is_demo
from agent_nb.agent import Agent
from agent_nb.cassette import locate, replay
from agent_nb.engine.limits import Limits
from agent_nb.engine.opening import Material
from agent_nb.engine.policy import Policy
from agent_nb.engine.prepared import Prepared
from agent_nb.errors import CassetteError, ConfigError
from agent_nb.looking.chromium import installed_viewer
from agent_nb.notebook.live.viewer import LiveViewer
from agent_nb.providers import default_model_name, full_name
from agent_nb.providers import model as make_model
from agent_nb.providers.base import Provider
from agent_nb.run.run import request_key
from agent_nb.tools import Tool

CACHE = "__marimo__/agent_nb"
"""Where runs are recorded that nobody asked to record; marimo keeps its own caches in this folder."""
_AGENT_OPTIONS = ("tools", "system", "limits", "approve", "middleware")
_MATERIAL = ("files", "images", "base", "messages")
_MODES = ("record", "replay", "live")


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
class Request:
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
        if self.mode in ("auto", "replay"):
            for path in self._cassettes:
                if prepared := self._replay(path):
                    return prepared
        if self.mode == "replay" and not self._is_demo:
            raise CassetteError(
                f"There is no cassette of this request: {' or '.join(self._cassettes)}. "
                "`record=True` writes one, `live=True` asks the model."
            )
        return self._ask()

    @cached_property
    def key(self) -> str:
        """Identifies the output, and the recording: the same request has the same key."""
        options = self.options
        base = options.get("base")
        files = {path: _digest(content) for path, content in (options.get("files") or {}).items()}
        images = [_digest(image.data) for image in options.get("images") or ()]
        extras = (options.get("variants", 1), base and base.key, files, images, options.get("messages"))
        return request_key(self.name, self.prompt, self._model_names, options.get("system"), *extras)

    @cached_property
    def mode(self) -> str:
        chosen = [mode for mode in _MODES if self.options.get(mode)]
        if len(chosen) > 1:
            raise ConfigError(f"Use only one of `{'` and `'.join(chosen)}`.")
        default = os.environ.get(MODE_VARIABLE, "").strip().lower()
        if default and default not in _MODES:
            raise ConfigError(f"{MODE_VARIABLE} is {default!r}. Set it to record, replay or live.")
        return next(iter(chosen), default or "auto")

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

    @property
    def _is_demo(self) -> bool:
        return all(map(is_demo, self._model_names))

    def _replay(self, path: str) -> list[Prepared] | None:
        """The run that a cassette plays; None if it is not of this request."""
        variants = self.options.get("variants", 1)
        try:
            provider = replay(path, pace=self.options.get("pace", 0), folder=self.folder)
            prepared = self._agent(provider).prepare_variants(self.prompt, **self._material)
            names = [name for name in self._model_names for _ in range(variants)]
            return None if prepared[0].differences(names) else prepared
        except CassetteError:
            return None

    def _ask(self) -> list[Prepared]:
        pace = self.options.get("pace", self.demo_pace)
        models = [self._provider(model, pace) for model in self._models]
        agent = self._agent(models[0])
        if self.mode != "live":
            agent = agent.recording(
                self._target(), force=self.options.get("force", False), folder=self.folder
            )
        variants = self.options.get("variants", 1)
        return agent.prepare_variants(self.prompt, models=models, variants=variants, **self._material)

    def _target(self) -> str:
        """Where to record. A recording that could not be played is replaced, unless a person asked for it."""
        shared, *here = self._cassettes
        if self.mode == "record" or not here:
            return shared
        with contextlib.suppress(OSError):
            old = locate(here[0], self.folder)
            check_place(old, folder_of(here[0], self.folder))
            old.unlink(missing_ok=True)
        return here[0]

    @staticmethod
    def _provider(model: str | Provider, pace: float) -> Provider:
        if not isinstance(model, str):
            return model
        return make_model(model, pace=pace) if is_demo(model) else make_model(model)

    def _agent(self, provider: Provider) -> Agent:
        options: dict[str, Any] = {**self.options}
        if "agent" in options:
            return self.options["agent"].with_model(provider)
        agent = Agent(provider, **{name: options[name] for name in _AGENT_OPTIONS if name in options})
        return agent.with_viewer(LiveViewer(installed_viewer()))

    @property
    def _material(self) -> Material:
        given: dict[str, Any] = {**self.options}
        material: Any = {name: given[name] for name in _MATERIAL if name in given}
        return material  # type: ignore[no-any-return]


def _digest(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
