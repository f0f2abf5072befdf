"""Programs that the site is built with."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path


def run(command: Iterable[str], folder: Path, **variables: str) -> None:
    """Runs a command quietly; if it fails, its output says why."""
    command = list(command)
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n`{' '.join(command)}` failed.")
