"""Runs in marimo notebooks: `run, view = await agent_nb.marimo.agent("A landing page for a bakery", name="hero")`.

marimo reruns cells, so a run is recorded and replayed if the cell sends the same request. Its kernel handles no page
messages while a cell awaits: questions are asked with `input()`, and marimo's interrupt button stops a run.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import marimo
import traitlets

from agent_nb._base.constants import DEMO_MODEL, MODEL_VARIABLE
from agent_nb._base.late import PAGE_LOADERS
from agent_nb._base.text import sha256
from agent_nb._base.threads import off_loop, uncancelled
from agent_nb.agent import Agent
from agent_nb.core.errors import CassetteError, ConfigError
from agent_nb.core.events import ApprovalRequested
from agent_nb.core.keywords import Keywords
from agent_nb.core.run_settings import Limits
from agent_nb.engine.approval import Answer, Policy, nobody_to_ask
from agent_nb.engine.handle import Handle
from agent_nb.engine.request import CellRequest
from agent_nb.engine.run_input import InputArgs, read_images
from agent_nb.engine.start import Prepared, VariantsHandle, start_request
from agent_nb.notebook.asking import ask_in_text
from agent_nb.notebook.cassette_choice import all_demo, cassette_path, default_mode, read_mode
from agent_nb.notebook.cell_runs import Cassettes, forget, providers, recorded
from agent_nb.notebook.live.hub import Hub, HubModel
from agent_nb.notebook.page import pages
from agent_nb.pages.chromium import installed_viewer
from agent_nb.providers import default_model_name, full_name
from agent_nb.providers.base import Provider
from agent_nb.render import bundle
from agent_nb.run.run import Run, request_key
from agent_nb.tools import Tool

__all__ = ["RunView", "agent"]

CACHE = "__marimo__/agent_nb"
"""Folder of automatic recordings, inside marimo's own cache folder."""
PAGE_LOADERS[:] = [lambda: pages]
_AGENT_OPTIONS = ("tools", "system", "limits", "approve", "middleware", *Keywords.__annotations__)


class MarimoOptions(InputArgs, Keywords, total=False):
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
    record: bool | str | PathLike[str]
    replay: bool | str | PathLike[str]


async def agent(prompt: str, *, name: str = "run", **options: Unpack[MarimoOptions]) -> "tuple[Run, RunView]":
    """Run a prompt, show it in the cell's output, and return the `Run` with its view.

    `options` are those of `Agent` and `agent.run`, or `agent=` with your own agent; `models` and `variants` as for
    `agent.start_variants`. The run is recorded, and replayed if the cell runs again with the same request;
    `replay="off"` calls the model each time, `record=True` writes `cassettes/NAME.run.jsonl` to share, `replay=True`
    only replays. Both also accept a path.
    `pace` is the speed of the demo model and of a replay: 1 as recorded, 0 at once.
    """
    options["images"] = await read_images(options.get("images"))
    folder, demo_pace = marimo.notebook_dir() or Path(), 1 if marimo.running_in_notebook() else 0
    cell = MarimoCell(prompt, name, options, folder, demo_pace)
    runs = await off_loop(cell.runs)
    handle = start_request(runs)
    handle.label(name, cell.key)
    view = RunView(handle)
    marimo.output.replace(view)
    # marimo's interrupt button cancels the cell: return the partial run.
    run = await uncancelled(handle, partial(handle.stop, "interrupted"))
    view.finish(run)
    return run, view


@dataclass(frozen=True)
class MarimoCell:
    prompt: str
    name: str
    options: MarimoOptions
    folder: Path
    """The notebook's folder, the base of relative paths. marimo provides it only in the kernel's own thread."""
    demo_pace: float = 0

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ConfigError(f"`name` must be a variable name, such as `hero`, not {self.name!r}.")
        conflicts = [option for option in ("model", *_AGENT_OPTIONS) if option in self.options]
        if "agent" in self.options and conflicts:
            raise ConfigError(f"`agent` has its own `{conflicts[0]}`: leave out `{conflicts[0]}`.")

    def runs(self) -> list[Prepared]:
        mode = read_mode(self.options, "`{}`")[0] or default_mode() or "auto"
        if mode in ("auto", "replay") and (prepared := self._cassettes.play(self._request)):
            return prepared
        if mode == "replay" and not all_demo(self._model_names):
            raise CassetteError(
                f"There is no cassette of this request: {' or '.join(self._paths)}. "
                "`record=True` writes one, `replay='off'` asks the model."
            )
        models = providers(self._models, self.options.get("pace", self.demo_pace))
        request = self._request
        if mode != "live":
            path, *automatic = self._paths
            if mode != "record" and automatic:
                path = automatic[0]
                forget(path, self.folder)
            request = recorded(request, path, self.folder, quiet=False)
        return request.prepare_variants(models, self.options.get("variants", 1))

    @property
    def _cassettes(self) -> Cassettes:
        return Cassettes(
            paths=self._paths,
            folder=self.folder,
            pace=self.options.get("pace", 0),
            models=[name for name in self._model_names for _ in range(self.options.get("variants", 1))],
            are_optional=True,
        )

    @cached_property
    def key(self) -> str:
        """Identifies the output and the recording; equal requests have equal keys."""
        base, options = self.options.get("base"), self.options
        files = {path: sha256(content) for path, content in (options.get("files") or {}).items()}
        images = [sha256(image.data) for image in options.get("images") or ()]
        extras = (options.get("variants", 1), base and base.key, files, images, options.get("messages"))
        return request_key(self.name, self.prompt, self._model_names, options.get("system"), *extras)

    @property
    def _paths(self) -> list[str]:
        """The cassettes to try: the shared one, and the automatic recording."""
        if path := read_mode(self.options, "`{}`")[1]:
            return [path]
        return [cassette_path(self.name), cassette_path(self.key, CACHE)]

    @cached_property
    def _models(self) -> Sequence[str | Provider]:
        if models := self.options.get("models"):
            return [models] if isinstance(models, str) else models
        if "agent" in self.options:
            return [self.options["agent"].model]
        default = os.environ.get(MODEL_VARIABLE) or default_model_name() or DEMO_MODEL
        return [self.options.get("model", default)]

    @property
    def _model_names(self) -> list[str]:
        return [full_name(model) if isinstance(model, str) else model.name for model in self._models]

    @cached_property
    def _request(self) -> CellRequest:
        agent = self.options.get("agent")
        if agent is None:
            agent = Agent(DEMO_MODEL, viewer=installed_viewer(), **_part(self.options, _AGENT_OPTIONS))
        return agent.request(self.prompt, **_part(self.options, InputArgs.__annotations__))


def _part(options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: options[name] for name in names if name in options}


class RunModel(HubModel):
    key = traitlets.Unicode().tag(sync=True)
    frozen = traitlets.Unicode().tag(sync=True)
    """The finished run as HTML, shown by the page if no kernel answers."""
    variant = traitlets.Int(1).tag(sync=True)
    selection: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)


class RunView(marimo.ui.anywidget):
    """A marimo element that shows one run. Cells that use its `value` rerun when the user changes it."""

    def __init__(self, handle: Handle) -> None:
        model = RunModel(kernel=f"marimo-{handle.id}", key=handle.key)
        self._handle = handle
        self._live = Hub(lambda: model).follow(handle)
        # marimo has no magics, so the page offers Python code instead.
        self._live.stream.meta = replace(self._live.stream.meta, magic="")
        self._live.on_pick = self._pick
        handle.approve_with(self._ask)
        super().__init__(model)

    @property  # type: ignore[misc]  # marimo's has a setter, which only raises
    def value(self) -> dict[str, Any]:
        """The number of the picked variant, from 1, and the selected elements as keyword arguments of `run.element`."""
        return {"variant": self.widget.variant, "selection": list(self.widget.selection)}

    @property
    def run(self) -> Run:
        return self._run.pick(self.widget.variant) if self._run.variants else self._run

    def finish(self, run: Run) -> None:
        self._run = run
        self.widget.set_trait("variant", run.variant + 1)
        self._show(run, picked=False)

    async def _ask(self, request: ApprovalRequested) -> Answer:
        if marimo.app_meta().mode != "edit":
            raise nobody_to_ask()
        self._live.stream.flush()
        several = isinstance(self._handle, VariantsHandle)
        return await ask_in_text(request, consent=self._handle.consent, several=several)

    def _pick(self, number: int) -> None:
        # The page sets `variant` in response: marimo reruns no cells for a change made by the kernel.
        # The variable still refers to what the cell returned.
        self._show(replace(self._run.pick(number), name=f"{self._run.name}.pick({number})"), picked=True)

    def _show(self, run: Run, *, picked: bool) -> None:
        self.widget.set_trait("frozen", bundle(run)["text/html"])
        self._live.announce_ready(run, None, picked=picked)
