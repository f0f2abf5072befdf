"""A kernel of its own for some cells: the same Python, another process, shut down at the end."""

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.text import printable, shortened
from agent_nb.errors import ConfigError
from agent_nb.notebook.kernel_tools.capture import plain

START_SECONDS = 60.0


@dataclass(slots=True)
class Outcome:
    """What came of one cell."""

    error: str = ""
    images: list[str] = field(default_factory=list)
    """PNG images, in base64."""


@dataclass(frozen=True, slots=True)
class FreshKernel:
    manager: Any
    client: Any
    seconds: float
    """How long one cell may run."""

    def run(self, code: str, *, silent: bool = False) -> Outcome:
        if not self.manager.is_alive():
            return Outcome("the kernel died")
        outcome = Outcome()

        def take(message: Any) -> None:
            content = message["content"]
            if message["msg_type"] in ("display_data", "execute_result"):
                image = content["data"].get("image/png")
                outcome.images += [image] if isinstance(image, str) else []
            elif message["msg_type"] == "error":
                text = plain(f"{content['ename']}: {content['evalue']}")
                outcome.error = shortened(printable(text, keep=""), 200)

        try:
            reply = self.client.execute_interactive(
                code,
                silent=silent,
                store_history=False,
                allow_stdin=False,
                timeout=self.seconds,
                output_hook=take,
            )
        except TimeoutError:
            outcome.error = "the kernel died"
            if self.manager.is_alive():
                self.manager.interrupt_kernel()
                outcome.error = f"stopped after {self.seconds:.3g} seconds"
        else:
            if reply["content"]["status"] != "ok" and not outcome.error:
                outcome.error = "it did not run"
        return outcome


@contextlib.contextmanager
def fresh_kernel(folder: Path, ipython: Path, seconds: float) -> Iterator[FreshKernel]:
    """A kernel that works in `folder`, with an empty profile in `ipython`."""
    if IN_BROWSER:
        raise ConfigError("A browser tab has one kernel: cells cannot be verified here.")
    try:
        from jupyter_client.manager import KernelManager
    except ImportError:
        raise ConfigError("Verifying needs a kernel of its own: `pip install ipykernel`.") from None
    manager = KernelManager()
    spec = manager.kernel_spec
    assert spec is not None  # ipykernel has one of its own
    spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    environment = {**os.environ, "IPYTHONDIR": str(ipython)}
    manager.start_kernel(cwd=str(folder), env=environment, stdout=DEVNULL, stderr=DEVNULL)
    client = manager.client()
    try:
        client.start_channels()
        try:
            client.wait_for_ready(timeout=START_SECONDS)
        except RuntimeError as error:
            raise ConfigError(f"The kernel did not start: {error}.") from None
        yield FreshKernel(manager, client, seconds)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
