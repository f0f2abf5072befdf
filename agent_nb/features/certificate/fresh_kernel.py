"""Runs code in a fresh kernel, with inputs that the certificate or the session has."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from agent_nb._base.secrets import is_secret_name
from agent_nb._base.text import printable, shortened
from agent_nb._base.wire import from_wire, parse_json, to_wire
from agent_nb.features.certificate.data import Stored, decoded
from agent_nb.features.certificate.digests import digest_of, digest_of_file, size_of, type_name
from agent_nb.plugins import ConfigError
from agent_nb.plugins.engine import output_text

_MOST_OUTPUT = 20_000_000
"""Characters of all messages of the kernel."""
_KIND = "application/vnd.agent-nb.digests+json"
_LOAD = """import sys
sys.path.append(package)
from agent_nb.features.certificate.fresh_kernel import load
load(namespace, folder)"""
_DIGESTS = """import sys
sys.path.append(package)
from agent_nb.features.certificate.fresh_kernel import digests
show({kind: digests(names, namespace, salt)}, raw=True)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a fresh kernel runs."""

    before: Sequence[str] = ()
    """Cells of a notebook that make the inputs."""
    names: Sequence[str] = ()
    """The inputs to be compared by their digests."""
    codes: Sequence[str]
    data: Sequence[Stored] = ()
    salt: str = ""
    folder: Path
    """A temporary folder."""
    home: Path | None = None
    """Where the code runs; None for the temporary folder."""
    seconds: float = 300.0
    """Maximum duration of all cells."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a cell gave."""

    error: str
    kind: str = ""
    """The class of the error; `time` and `kernel` if the cell was stopped or its kernel died."""
    output: str = ""
    digests: Any = None


def run(job: Job, progress: Callable[[str], None] = lambda text: None) -> Iterator[Outcome]:
    """Run the cells before, the digests, and the code; yield an outcome for the digests and for each cell of the code.

    A cell that fails ends it.
    """
    if not all(map(find_spec, ("nbclient", "ipykernel"))):
        raise ConfigError('This needs nbclient: `pip install "agent-nb[verify]"`.')
    (job.folder / "inputs").write_text(json.dumps(to_wire(job.data)), encoding="utf-8")
    scope = f"package={str(Path(__file__).parents[3])!r}, namespace=globals(), show=display"
    digests = f"{scope}, names={[*job.names]!r}, salt={job.salt!r}, kind={_KIND!r}"
    first = f"exec({_LOAD!r}, dict({scope}, folder={str(job.folder)!r}))"
    setup = [*job.before, *([first] if job.data else []), f"exec({_DIGESTS!r}, dict({digests}))"]
    for number, outcome in enumerate(_executed([*setup, *job.codes], job)):
        is_setup = number < len(setup) - 1
        if is_setup and outcome.error:
            raise ConfigError(f"The inputs could not be made in a fresh kernel: {outcome.error}")
        if not is_setup:
            yield outcome
        if outcome.error:
            return
        at = number - len(setup) + 2
        if 0 < at <= len(job.codes):
            progress(f"Running cell {at} of {len(job.codes)}")


def _executed(codes: Sequence[str], job: Job) -> Iterator[Outcome]:
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError
    from nbformat.v4 import new_code_cell, new_notebook

    end, size = time.monotonic() + job.seconds, 0

    class Client(NotebookClient):
        def process_message(self, message: Any, cell: Any, cell_index: int) -> Any:
            nonlocal size
            size += len(str(message.get("content")))
            if size > _MOST_OUTPUT:
                raise ConfigError(
                    f"The code was stopped: its output is longer than {_MOST_OUTPUT:,} characters."
                )
            return super().process_message(message, cell, cell_index)

    manager = AsyncKernelManager()
    assert manager.kernel_spec
    manager.kernel_spec.argv = [sys.executable, "-P", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    client = Client(
        new_notebook(cells=[new_code_cell(code) for code in codes]),
        km=manager,
        timeout_func=lambda cell: max(0.1, end - time.monotonic()),
        interrupt_on_timeout=True,
        error_on_timeout={"ename": "time", "evalue": f"stopped after {job.seconds:.3g} seconds"},
        shutdown_kernel="immediate",
    )
    variables = {name: value for name, value in os.environ.items() if not is_secret_name(name)}
    (job.folder / "work").mkdir(exist_ok=True)
    options = {
        "cwd": str(job.home or job.folder / "work"),
        "env": {**variables, "IPYTHONDIR": str(job.folder / "ipython")},
    }
    with client.setup_kernel(cleanup_kc=True, stdout=DEVNULL, stderr=DEVNULL, **options):
        for number, cell in enumerate(client.nb.cells):
            error = kind = ""
            try:
                client.execute_cell(cell, number)
            except CellExecutionError as failure:
                kind, error = str(failure.ename), _line(f"{failure.ename}: {failure.evalue}")
            except DeadKernelError:
                kind, error = "kernel", "the kernel died"
            bundles = [
                output.get("data") or {"text/plain": output.get("text", "")} for output in cell.outputs
            ]
            digests = next((bundle[_KIND] for bundle in bundles if _KIND in bundle), None)
            yield Outcome(error, kind, "".join(map(output_text, bundles)), digests)


def _line(text: str) -> str:
    return shortened(printable(text, keep="").removeprefix("time: "), 200)


def load(namespace: dict[str, Any], folder: str) -> None:
    """Set the inputs. Runs in the fresh kernel."""
    for wire in parse_json((Path(folder) / "inputs").read_bytes()):
        stored: Stored = from_wire(Stored, wire)
        value = decoded(stored)
        if stored.form == "file":
            path = Path(stored.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(value)
        else:
            namespace[stored.name] = value


def digests(names: Sequence[str], namespace: dict[str, Any], salt: str) -> dict[str, Sequence[str]]:
    """Type, size and digest of the names and files that exist. Runs in the fresh kernel."""
    found: dict[str, Sequence[str]] = {}
    for name in names:
        try:
            if name in namespace:
                value = namespace[name]
                found[name] = type_name(value), size_of(value), digest_of(value, salt)
            elif Path(name).is_file():
                found[name] = "file", f"{Path(name).stat().st_size} bytes", digest_of_file(Path(name), salt)
        except Exception as error:  # the value's own code
            found[name] = type_name(namespace.get(name)), "", type(error).__name__
    return found
