"""Writes the figures of a bench to `build/quality/NAME.json`, with what they depend on, and reads them again."""

# ruff: noqa: E501 - tables are easier to read in long lines

import datetime
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from agent_nb import __version__

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "quality"
SOURCES = ("agent_nb", "js/src", "js/lab")
GOALS: dict[str, tuple[float, str]] = {
    "providers/cpu/anthropic_messages/agent_nb/times_sdk": (0.6, "Processor time of a run, times the SDK's: Anthropic"),
    "providers/cpu/responses/agent_nb/times_sdk": (0.23, "The same: OpenAI Responses"),
    "providers/cpu/chat/agent_nb/times_sdk": (0.2, "The same: Chat Completions"),
    "providers/cpu/anthropic_messages/agent_nb/exponent": (1.0, "Its growth exponent: Anthropic"),
    "providers/peak_bytes_per_character/anthropic_messages": (10, "Peak memory of a run, bytes per character: Anthropic"),
    "providers/cancel_ms/anthropic_messages": (100, "Cancel to closed socket, ms: Anthropic"),
    "magic/*/load_cpu_ms": (14, "`%load_ext`, ms of processor time"),
    "widget/oldest fragment arrives after, p95 (ms)": (100, "The page gets the oldest fragment after, ms, 95 %"),
    "notebook/runs_at_once/lag_p95_ms": (100, "The same with 100 runs at once, for those on screen"),
    "notebook/ratios/vendor_first_over_demo_first": (1.5, "First word of the first run in a kernel, a vendor's over the demo's"),
    "notebook/ratios/demo_first_over_next": (1.7, "The same, the demo's first over its next"),
    "notebook/ratios/opened_over_plain": (1.2, "50 finished runs opened, over 50 lines of HTML"),
    "notebook/ratios/longest_task_over_plain": (1.2, "The longest task of that"),
    "notebook/saved_size/saved_bytes": (14_000, "Saved output of a run, bytes"),
    "bound/times the plain widget's": (1.3, "100,000 rows to a bound page's callback, times a plain anywidget"),
    "variants/interactions/times_one_alone": (1.15, "8 variants on Gemini, times one alone"),
    "class/after_a_run_over_ipywidgets_mb": (60, "Memory of a kernel after a run, MB over one with ipywidgets, 30 at once"),
    "soak/1000 outputs opened and closed/page/growth_per_output/nodes": (0, "Nodes that a closed output leaves on the page"),
    "soak/a notebook of 200 outputs scrolled again/finished_runs_with_widget/frame_ms_p95": (25, "A frame of 200 finished runs scrolled with the widget on the page, ms, 95 %"),
    "faults/runs/*/violations": (0, "Runs with a fault that break a rule"),
    "faults/runs/*/other_answer": (32, "Runs with a fault that end with other files and no error"),
    "leaks/found": (0, "Planted keys found in what leaves the kernel"),
}  # fmt: skip
"""Where a figure is (`*` is the sum of all rows, or their median): the most it should be, and what is measured."""
_MEDIAN = ("load_cpu_ms",)


def write_figures(name: str, figures: Any) -> None:
    """`figures` is the bench's own: numbers and texts by label, nested as it likes."""
    record = {
        "name": name,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command(),
        "version": __version__,
        "commit": source_commit(),
        "machine": machine(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "figures": figures,
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=2, ensure_ascii=False)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def read_record(folder: Path, name: str) -> dict[str, Any] | None:
    """The figures of this name and what they depend on; None if they are not of the sources as they are now."""
    try:
        record = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        return record if _is_current(record["commit"]) else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def figure(folder: Path, where: str) -> float | None:
    """The number that the keys of a goal lead to; None if it was not measured."""
    name, *keys = where.split("/")
    try:
        value = read_record(folder, name)["figures"]  # type: ignore[index]
        for place, key in enumerate(keys):
            if key == "*":
                return (statistics.median if keys[-1] in _MEDIAN else sum)(
                    row[keys[place + 1]] for row in value
                )
            value = value[key]
        return float(value)
    except (ValueError, LookupError, TypeError):
        return None


def source_commit() -> str:
    """The last commit of the sources; empty if they have changed since."""
    return _git("log", "-1", "--format=%H", "--", *SOURCES).stdout.strip() if _is_current("HEAD") else ""


def _is_current(commit: str) -> bool:
    return bool(commit) and _git("diff", "--quiet", commit, "--", *SOURCES).returncode == 0


def _git(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


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
