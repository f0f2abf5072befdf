"""`agent`: runs a prompt in a marimo cell and shows it there."""

import asyncio
from pathlib import Path
from typing import Unpack

import marimo

from agent_nb._base.threads import off_loop
from agent_nb.engine.opening import read_images
from agent_nb.hosts.marimo.inbox import listening
from agent_nb.hosts.marimo.prepare import Cell, Options
from agent_nb.hosts.marimo.run_view import RunView
from agent_nb.notebook.cell_request import start
from agent_nb.run import Run


async def agent(prompt: str, *, name: str = "run", **options: Unpack[Options]) -> tuple[Run, RunView]:
    """Runs a prompt, shows it in the cell's output, and returns the `Run` with its view.

    `options` are those of `Agent` and of `agent.run`, or `agent=` with an agent of your own; `models` and `variants`
    as for `agent.race`. The run is recorded, and played when the cell runs again with the same request; `live=True`
    asks the model each time, `record=True` writes `cassettes/NAME.jsonl` to be shared, `replay=True` only plays.
    """
    options["images"] = await read_images(options.get("images"))
    cell = Cell(
        prompt=prompt,
        name=name,
        options=options,
        folder=marimo.notebook_dir() or Path(),
        demo_pace=1 if marimo.running_in_notebook() else 0,
    )
    prepared = await off_loop(cell.prepare)
    handle = start(prepared)
    handle.label(name, cell.key)
    view = RunView(handle)
    marimo.output.replace(view)
    async with listening(view.model_id, view.receive):
        try:
            run = await handle
        except asyncio.CancelledError:  # marimo's interrupt button
            handle.stop("interrupted")
            await handle
            raise
        view.finish(run)
    return run, view
