"""Writes the figures of a bench to `build/quality/NAME.json`, with what they depend on."""

import datetime
import json
import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "build" / "quality"


def write_figures(name: str, figures: Any) -> None:
    """`figures` is the bench's own: numbers and texts by label, nested as it likes."""
    record = {
        "name": name,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command(),
        "machine": machine(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "figures": figures,
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=2, ensure_ascii=False)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def command() -> str:
    """How this program was started, as one would type it."""
    module = getattr(sys.modules["__main__"].__spec__, "name", Path(sys.argv[0]).name)
    return shlex.join(["python", "-m", module.removesuffix(".__main__"), *sys.argv[1:]])


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "cpu": cpu_name(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def cpu_name() -> str:
    """As `lscpu` knows it; where there is none, what Python knows."""
    try:
        lines = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("Model name")]
    return names[0] if names else platform.processor()
