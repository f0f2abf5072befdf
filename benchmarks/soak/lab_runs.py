"""Many runs of every kind in one kernel, with its notebook open in JupyterLab: nothing but the outputs may grow."""

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_nb.notebook.live.hub import MOST_RUNS
from benchmarks.soak.sampling import Growth, Sample, Sampler, exceeded, rounded
from tests.support.lab import (
    LOAD,
    MODEL,
    PATIENCE,
    open_browser,
    open_notebook,
    run_all,
    start_lab,
    wait_for_kernel,
    write_notebook,
)
from tests.support.wire import Call, Hold, Say, WireServer, reply
from tests.support.wire.steps import problem

BOUNDS: Sample = {
    "tasks": 0.01,
    "threads": 0.01,
    "fds": 0.01,
    "sockets": 0.01,
    "kernel_comms": 0.01,
    "page_comms": 0.01,
    "handles": 0.01,
    "frames": 0.02,
    "documents": 0.05,
    "nodes": 100,
    "listeners": 20,
}
"""What each count may grow by, per run, while every output replaces the one before it.

JupyterLab itself keeps some nodes and listeners of every cell that is run: the growth with plain cells is subtracted.
"""
SETUP = (
    "from agent_nb import tool\n@tool(approval='ask')\ndef run_shell(command: str) -> str:\n"
    "    'Runs a command.'\n    return 'ran ' + command"
)
PAGE = "<!doctype html><title>Bread</title><h1>Bread</h1>" + "<p>Slow dough, real butter.</p>" * 40
RECORDED = "%%agent taped -m demo: --pace 0{}\nA page for a bakery"
RUN = """([index, source]) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  const { sharedModel } = notebook.model;
  if (index < 0) index = sharedModel.cells.length;
  if (index === sharedModel.cells.length) sharedModel.addCell({ cell_type: "code", source });
  else sharedModel.getCell(index).setSource(source);
  notebook.activeCellIndex = index;
  notebook.deselectAll();
  window.soaking = window.jupyterapp.commands.execute("notebook:run-cell");
}"""


@dataclass(frozen=True)
class Kind:
    """A kind of run: its cell, in which `{}` is a number, the vendor's answers, and what a person does meanwhile."""

    source: str
    plan: Callable[[WireServer], None] = lambda vendor: None
    act: Callable[[Any], None] = lambda page: None


def _press(name: str) -> Callable[[Any], None]:
    return lambda page: page.get_by_role("button", name=name, exact=True).first.click(timeout=PATIENCE)


KINDS = {
    "demo": Kind("%%agent hero -m demo: --pace 0\nA landing page for bakery {}"),
    "tools": Kind(
        f"%%agent made {MODEL}\nA page for bakery {{}}",
        lambda vendor: vendor.plan(
            reply(Say("I write it."), Call("create_file", {"path": "index.html", "content": PAGE})),
            reply(Say("**Done.**")),
        ),
    ),
    "approval": Kind(
        f"%%agent asked {MODEL} -t run_shell\nList the files of bakery {{}}",
        lambda vendor: vendor.plan(reply(Call("run_shell", {"command": "ls"})), reply(Say("Done."))),
        _press("Approve"),
    ),
    "stop": Kind(
        f"%%agent held {MODEL}\nStop bakery {{}}",
        lambda vendor: vendor.plan(reply(Say("I begin."), Hold())),
        _press("Stop"),
    ),
    "variants": Kind("%%agent many -m demo: -n 3 --pace 0\nA page for a museum, number {}"),
    "failure": Kind(
        f"%%agent failing {MODEL}\nFail at bakery {{}}",
        lambda vendor: vendor.plan(problem(400, "This request is refused.")),
    ),
    "replay": Kind(RECORDED.format(" --replay")),
}
PLAIN = (
    "from IPython.display import HTML, display\ndisplay(HTML('<p>Slow dough, real butter.</p>' * 40 + '{}'))"
)


class Soak:
    """The notebook under way."""

    def __init__(self, page: Any, vendor: WireServer) -> None:
        self.page, self.vendor, self.done = page, vendor, 0
        self.sampler = Sampler(page)

    def run(self, kind: Kind, cell: int) -> None:
        """Runs a kind of run in that cell, or in a new one if the number is negative, to its end."""
        self.done += 1
        self.vendor.forget_exchanges()
        kind.plan(self.vendor)
        self.page.evaluate(RUN, [cell, kind.source.replace("{}", str(self.done))])
        kind.act(self.page)
        self.page.evaluate("() => window.soaking.then(() => null)")
        wait_for_kernel(self.page)

    def phase(self, name: str, kinds: list[Kind], rounds: int, *, add: bool = False) -> Growth:
        """Runs all kinds so many times, with a sample before the first round and after each."""
        first, runs, samples = self.done, [0], [self.sampler.take()]
        for number in range(rounds):
            for cell, kind in enumerate(kinds, 2):
                self.run(kind, -1 if add else cell)
            runs.append(self.done - first)
            samples.append(self.sampler.take())
            _say(f"{name}: round {number + 1} of {rounds}", samples[-1])
        return Growth.over(runs, samples)


def soak_in_lab(runs: int) -> tuple[dict[str, Any], list[str]]:
    """The figures of each phase, and the bounds that were exceeded."""
    rounds = max(4, runs // len(KINDS))
    more = max(2, rounds // 5)
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        vendor = stack.enter_context(WireServer.in_thread(strict=False))
        environment = {
            "ANTHROPIC_API_KEY": "sk-ant-test-key",
            "ANTHROPIC_BASE_URL": vendor.base_url("anthropic_messages"),
        }
        lab = stack.enter_context(start_lab(root, environment=environment))
        page = stack.enter_context(open_browser(scrollbars=True)).new_context().new_page()
        page.set_default_timeout(PATIENCE)
        page.set_viewport_size({"width": 1400, "height": 1000})
        write_notebook(root / "soak.ipynb", LOAD, SETUP, *[""] * len(KINDS))
        open_notebook(page, lab, "soak.ipynb")
        run_all(page)
        wait_for_kernel(page)
        soak = Soak(page, vendor)
        kinds = list(KINDS.values())
        plain = soak.phase("plain cells", [Kind(PLAIN)] * len(kinds), rounds)
        soak.run(Kind(RECORDED.format(" --record")), 2)
        replaced = soak.phase("outputs replaced", kinds, rounds)
        added = soak.phase("outputs added", kinds, more, add=True)
    rates = {name: rate - plain.rates[name] for name, rate in replaced.rates.items()}
    failures = exceeded(rates, BOUNDS)
    if added.end["live_runs"] > MOST_RUNS:
        failures.append(f"the kernel holds {added.end['live_runs']} runs for the page, more than {MOST_RUNS}")
    repeated = rounds * len(kinds)
    return {
        f"{repeated} plain cells, outputs replaced": plain.figures(),
        f"{repeated} runs, outputs replaced": replaced.figures(),
        f"{more * len(kinds)} runs, outputs added": added.figures(),
        "bounds of outputs replaced, beyond plain cells": {"growth_per_run": BOUNDS},
    }, failures


def _say(where: str, sample: Sample) -> None:
    print(where, rounded(sample), flush=True)
