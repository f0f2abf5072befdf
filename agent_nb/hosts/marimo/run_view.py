"""A run in a marimo cell: one widget model per run, live while the cell awaits, frozen without a kernel."""

from dataclasses import replace
from typing import Any

import marimo
import traitlets

from agent_nb._base.wire import Json
from agent_nb.engine.handle import Handle
from agent_nb.engine.race import Race
from agent_nb.errors import ConfigError
from agent_nb.notebook.live.hub import Hub, HubModel
from agent_nb.render import bundle
from agent_nb.run import Run


class RunModel(HubModel):
    """The widget of one run."""

    key = traitlets.Unicode().tag(sync=True)
    """The key of the run to show."""
    frozen = traitlets.Unicode().tag(sync=True)
    """The finished run as HTML, which the page shows if no kernel answers."""
    variant = traitlets.Int(1).tag(sync=True)
    selection: traitlets.List[Json] = traitlets.List().tag(sync=True)


class RunHub(Hub):
    """A hub for one run. It handles each command once: marimo delivers those of a running cell again at its end."""

    def __init__(self, model: RunModel) -> None:
        self._handled: set[str] = set()
        super().__init__(lambda: model)

    def receive(self, content: Any, session: str = "") -> None:
        """Takes a message of the page."""
        command = str(content.get("id")) if isinstance(content, dict) else ""
        if command not in self._handled:
            self._handled.add(command)
            super().receive(content, session)


class RunView(marimo.ui.anywidget):
    """The view of one run, an element of marimo. Cells that use its `value` run again when the user changes it."""

    def __init__(self, handle: Handle) -> None:
        model = RunModel(kernel=f"marimo-{handle.id}", key=handle.key)
        self._hub = RunHub(model)
        self.receive = self._hub.receive
        self._handle = handle
        self._live = self._hub.follow(handle)
        # There are no magics in marimo, so the page offers Python instead.
        self._live.stream.meta = replace(self._live.stream.meta, magic="")
        self._live.on_pick = self._pick
        super().__init__(model)

    @property  # type: ignore[misc]  # marimo's has a setter, which only raises
    def value(self) -> dict[str, Any]:
        """`variant` is the number of the variant that was picked, from 1; `selection` has the elements pointed at.

        Each is a dict with `path` and `file`, as `run.element` takes them.
        """
        return {"variant": self.widget.variant, "selection": list(self.widget.selection)}

    @property
    def run(self) -> Run:
        """The run with the variant that the user has picked."""
        run = self._handle.result
        if run is None:
            raise ConfigError("The run has not ended yet.")
        return run.pick(self.widget.variant) if run.variants else run

    def finish(self, run: Run) -> None:
        """Shows the finished run."""
        self.widget.set_trait("variant", run.variant + 1)
        self._show(run, picked=self._handle.chosen is not None)

    def _pick(self, number: int) -> None:
        run = self._handle.result
        if run is not None:
            # The page sets `variant` when it hears of this: marimo runs no cells for a change that the kernel made.
            # The variable still holds what the cell returned.
            self._show(replace(run.pick(number), name=f"{run.name}.pick({number})"), picked=True)
        elif isinstance(self._handle, Race):
            self._handle.pick(number)
        else:
            raise ConfigError("There is nothing to pick: this run has no variants.")

    def _show(self, run: Run, *, picked: bool) -> None:
        self.widget.set_trait("frozen", bundle(run)["text/html"])
        self._live.announce_ready(run, None, picked=picked)
