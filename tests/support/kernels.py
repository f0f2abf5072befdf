"""A real IPython kernel for tests: run cells, interrupt them, see everything that comes back."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

from agent_nb.providers.vendors import VENDORS
from tests.support.waiting import PATIENCE

VARIABLES = {name for row in VENDORS.values() for name in (*row.keys, row.base_url_variable) if name}
KEYS = ("AGENT_NB", *sorted({name.partition("_")[0] for name in VARIABLES}))
"""First words of the variables that hold keys and settings of ours and of the vendors."""

ASKING = (
    "from agent_nb import tool\n@tool(approval='ask')\ndef run_shell(command: str) -> str:\n"
    "    'Runs a command.'\n    return 'ran ' + command"
)
"""A cell with a tool that asks."""


def quiet_environment(home: Path, **more: str) -> dict[str, str]:
    """The environment without anybody's keys and settings."""
    dropped = (*KEYS, "PYTEST_CURRENT_TEST")  # with it, ipykernel does not read what processes write
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {
        **kept,
        "IPYTHONDIR": str(home / ".ipython"),
        "JUPYTER_RUNTIME_DIR": str(home / ".runtime"),
        **more,
    }


@dataclass
class Cell:
    """What running a cell gave back."""

    status: str = ""
    stdout: str = ""
    stderr: str = ""
    displays: list[dict[str, Any]] = field(default_factory=list)
    updates: list[dict[str, Any]] = field(default_factory=list)
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    comms: list[dict[str, Any]] = field(default_factory=list)
    cleared: int = 0

    @property
    def errors(self) -> str:
        """What the user reads when the cell fails."""
        return self.stderr + "".join(self.error["traceback"] if self.error else [])


class Kernel:
    """One kernel. `run` waits for a cell, `start` and `finish` do it in two steps, with `until` between them."""

    def __init__(self, manager: KernelManager, client: Any) -> None:
        self.manager, self.client = manager, client
        self._started: dict[str, Cell] = {}

    def run(self, code: str, *, stdin: bool = False, tags: Sequence[str] = (), console: bool = False) -> Cell:
        return self.finish(self.start(code, stdin=stdin, tags=tags, console=console))

    def start(
        self, code: str, *, stdin: bool = False, tags: Sequence[str] = (), console: bool = False
    ) -> str:
        """Sends the cell, with its id and tags in the request's metadata as JupyterLab does; a console sends no id."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": stdin,
            "stop_on_error": True,
        }
        metadata = {**({} if console else {"cellId": "cell"}), **({"tags": list(tags)} if tags else {})}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        message_id = str(message["header"]["msg_id"])
        self._started[message_id] = Cell()
        return message_id

    def until(self, message_id: str, condition: Callable[[Cell], object]) -> None:
        """Reads what the running cell sends until the condition holds."""
        cell, deadline = self._started[message_id], time.monotonic() + PATIENCE
        while not condition(cell):
            assert not self._read(message_id, cell, deadline), "the cell ended without it"

    def _read(self, message_id: str, cell: Cell, deadline: float) -> bool:
        """Takes the next message; returns whether the cell has ended with it."""
        message = self.client.get_iopub_msg(timeout=max(0.1, deadline - time.monotonic()))
        if message["parent_header"].get("msg_id") != message_id:
            return False
        return _take(cell, message["msg_type"], message["content"])

    def finish(self, message_id: str) -> Cell:
        """Everything up to the cell's end."""
        cell, deadline = self._started.pop(message_id), time.monotonic() + PATIENCE
        while not self._read(message_id, cell, deadline):
            pass
        reply = self.client.get_shell_msg(timeout=max(0.1, deadline - time.monotonic()))
        while reply["parent_header"].get("msg_id") != message_id:
            reply = self.client.get_shell_msg(timeout=max(0.1, deadline - time.monotonic()))
        cell.status = reply["content"]["status"]
        return cell

    def value(self, expression: str) -> Any:
        """The value of an expression, as its repr."""
        cell = self.run(f"print(repr(({expression})))")
        assert cell.status == "ok", cell.errors
        return cell.stdout.strip()

    def interrupt(self) -> None:
        self.manager.interrupt_kernel()

    def restart(self) -> None:
        self.manager.restart_kernel(now=True)
        self.client.wait_for_ready(timeout=PATIENCE)
        assert self.run("%load_ext agent_nb").status == "ok"


def _take(cell: Cell, kind: str, content: dict[str, Any]) -> bool:
    match kind:
        case "stream":
            name = content["name"]
            setattr(cell, name, getattr(cell, name) + content["text"])
        case "display_data":
            cell.displays.append(content["data"])
        case "update_display_data":
            cell.updates.append(content["data"])
        case "execute_result":
            cell.result = content["data"]
        case "error":
            cell.error = content
        case "clear_output":
            cell.cleared += 1
        case "comm_open" | "comm_msg":
            cell.comms.append(content)
        case "status":
            return bool(content["execution_state"] == "idle")
    return False


@contextmanager
def start_kernel(home: Path, *, load: bool = True, python: str = "", **environment: str) -> Iterator[Kernel]:
    """A kernel working in `home`, with the extension loaded; `python` is that of another environment."""
    # Over TCP, another process can take a port that was free before the kernel binds it, and the kernel never answers.
    with tempfile.TemporaryDirectory(prefix="anb-") as sockets:  # a socket's path has at most 107 characters
        manager = KernelManager(kernel_name="python3", transport="ipc", ip=f"{sockets}/kernel")
        if python and manager.kernel_spec:
            manager.kernel_spec.argv[0] = python
        manager.start_kernel(cwd=str(home), env=quiet_environment(home, **environment))
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=PATIENCE)
            kernel = Kernel(manager, client)
            if load:
                assert kernel.run("%load_ext agent_nb").status == "ok"
            yield kernel
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
