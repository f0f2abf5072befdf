"""Runs code in a fresh kernel, with inputs that a certificate, a notebook or the session has."""

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from typing import Any

from agent_nb._base.secrets import is_secret_name, shortened
from agent_nb._base.text import printable
from agent_nb._base.wire import to_wire
from agent_nb.features.certificate.data import Stored
from agent_nb.plugins import ConfigError
from agent_nb.plugins.engine import output_text

STOPPED, DIED = "stopped", "died"
_MOST_OUTPUT = 20_000_000
"""Characters of all messages of the kernel."""
_KIND = "application/vnd.agent-nb.facts+json"
_SETUP = """import sys
sys.path.append(package)
from agent_nb.features.certificate.data import facts_of, set_inputs
set_inputs(namespace, file)
show({kind: facts_of(names, namespace, salt)}, raw=True)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What code gets."""

    names: Sequence[str]
    """The names and files to be compared."""
    salt: str
    data: Sequence[Stored] = ()
    before: Sequence[str] = ()
    """Cells of a notebook that make them."""
    home: Path | None = None
    """Where the code runs; None for a temporary folder."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a cell gave."""

    error: str = ""
    kind: str = ""
    """The class of the error, `STOPPED` or `DIED`."""
    output: str = ""
    facts: Any = None
    """Of the cell before the code: type, size and digest of each input."""


def run_cells(codes: Sequence[str], inputs: Inputs, seconds: float) -> Iterator[Outcome]:
    """Yield the facts of the inputs, then the outcome of each cell up to the first that fails."""
    if not all(map(find_spec, ("nbclient", "ipykernel"))):
        raise ConfigError('This needs nbclient: `pip install "agent-nb[verify]"`.')
    with TemporaryDirectory(prefix="agent_nb-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "inputs"
        file.write_text(json.dumps(to_wire(inputs.data)), encoding="utf-8")
        scope: dict[str, Any] = {"package": str(Path(__file__).parents[3]), "file": str(file), "kind": _KIND}
        scope |= {"names": [*inputs.names], "salt": inputs.salt}
        # A namespace of its own, so that its names cannot hide one that the code forgot to set.
        setup = f"exec({_SETUP!r}, dict({scope!r}, namespace=globals(), show=display))"
        for number, outcome in enumerate(
            _executed([*inputs.before, setup, *codes], inputs, seconds, Path(folder))
        ):
            if number <= len(inputs.before) and outcome.error:
                raise ConfigError(f"The inputs could not be made in a fresh kernel: {outcome.error}.")
            if number >= len(inputs.before):
                yield outcome
            if outcome.error:
                return


def _executed(codes: Sequence[str], inputs: Inputs, seconds: float, folder: Path) -> Iterator[Outcome]:
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError
    from nbformat.v4 import new_code_cell, new_notebook

    end, size = time.monotonic() + seconds, 0

    class BoundedClient(NotebookClient):
        def process_message(self, message: Any, cell: Any, cell_index: int) -> Any:
            nonlocal size
            size += len(str(message.get("content")))
            if size > _MOST_OUTPUT:
                raise ConfigError(f"The code was stopped: it printed more than {_MOST_OUTPUT:,} characters.")
            return super().process_message(message, cell, cell_index)

    manager = AsyncKernelManager()
    assert manager.kernel_spec
    manager.kernel_spec.argv = [sys.executable, "-P", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    client = BoundedClient(
        new_notebook(cells=[new_code_cell(code) for code in codes]),
        km=manager,
        timeout_func=lambda cell: max(0.1, end - time.monotonic()),
        interrupt_on_timeout=True,
        error_on_timeout={"ename": STOPPED, "evalue": f"after {seconds:.3g} seconds"},
        shutdown_kernel="immediate",
    )
    (folder / "work").mkdir()
    variables = {name: value for name, value in os.environ.items() if not is_secret_name(name)}
    environment = {**variables, "IPYTHONDIR": str(folder / "ipython")}
    place = {"cwd": str(inputs.home or folder / "work"), "env": environment}
    with client.setup_kernel(cleanup_kc=True, stdout=DEVNULL, stderr=DEVNULL, **place):
        for number, cell in enumerate(client.nb.cells):
            kind = error = ""
            try:
                client.execute_cell(cell, number)
            except CellExecutionError as failure:
                kind, error = str(failure.ename), f"{failure.ename}: {failure.evalue}"
            except DeadKernelError:
                kind, error = DIED, "the kernel died"
            bundles = [each.get("data") or {"text/plain": each.get("text", "")} for each in cell.outputs]
            facts = next((bundle[_KIND] for bundle in bundles if _KIND in bundle), None)
            line = shortened(printable(error, keep=""), 200)
            yield Outcome(line, kind, "".join(map(output_text, bundles)), facts)
