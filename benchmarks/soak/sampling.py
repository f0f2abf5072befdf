"""Counts what a kernel and a page hold, and how fast that grows."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Sample = dict[str, float]
PAGE = ("heap_mb", "nodes", "listeners", "documents", "frames", "page_comms")
"""The counts that are the page's; the others are the kernel's."""

KERNEL = """
def _soak_sample():
    import asyncio, comm, gc, json, os, threading
    gc.collect()
    links = []
    for number in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:  # the one that lists them
            pass
    own = [type(one).__name__ for one in gc.get_objects() if str(type(one).__module__).startswith("agent_nb")]
    resident = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    counts = {
        "kernel_mb": resident / 1e6,
        "tasks": len(asyncio.all_tasks()),
        "threads": threading.active_count(),
        "fds": len(links),
        "sockets": sum(link.startswith("socket:") for link in links),
        "kernel_comms": len(comm.get_comm_manager().comms),
        "own_objects": len(own),
        "live_runs": own.count("LiveRun"),
        "handles": own.count("Handle"),
    }
    print(json.dumps(counts))
_soak_sample()
"""
"""Run in the kernel; prints one line of JSON."""

EXECUTE = """async (code) => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  const future = kernel.requestExecute({ code, silent: false, store_history: false });
  let printed = "";
  future.onIOPub = ({ header, content }) => {
    if (header.msg_type === "stream") printed += content.text;
    if (header.msg_type === "error") printed += content.traceback.join("\\n");
  };
  await future.done;
  return printed;
}"""
PAGE_COMMS = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel._comms?.size ?? -1"


class Sampler:
    """Takes samples of the JupyterLab on a Playwright page and of the kernel of the notebook in front."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.session = page.context.new_cdp_session(page)
        self.session.send("Performance.enable")

    def take(self) -> Sample:
        printed = self.page.evaluate(EXECUTE, KERNEL)
        assert printed.startswith("{"), printed
        kernel: Sample = json.loads(printed)
        comms = self.page.evaluate(PAGE_COMMS)
        return {**kernel, **page_counts(self.session), "page_comms": comms, "frames": len(self.page.frames)}


def page_counts(session: Any) -> Sample:
    """What the page's process holds after the garbage has been collected."""
    for _ in range(3):  # what a finalizer lets go is collected by the next
        session.send("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return {
        "heap_mb": metrics["JSHeapUsedSize"] / 1e6,
        "nodes": metrics["Nodes"],
        "listeners": metrics["JSEventListeners"],
        "documents": metrics["Documents"],
    }


@dataclass(frozen=True)
class Growth:
    """Samples at the start and the end, and what each figure grows by."""

    start: Sample
    end: Sample
    rates: Sample
    per: str = "run"

    @classmethod
    def between(cls, start: Sample, end: Sample, count: int, per: str) -> "Growth":
        """The mean growth."""
        return cls(start, end, {name: (end[name] - start[name]) / count for name in start}, per)

    @classmethod
    def over(cls, runs: Sequence[int], samples: Sequence[Sample]) -> "Growth":
        """Growth per run over the second half of the samples: what is filled once is full by then."""
        half = len(samples) // 2
        rates = {
            name: statistics.linear_regression(runs[half:], [one[name] for one in samples[half:]]).slope
            for name in samples[0]
        }
        return cls(samples[0], samples[-1], rates)

    def figures(self) -> dict[str, dict[str, Sample]]:
        """Rounded, the kernel's and the page's apart."""
        rows = {
            "start": rounded(self.start),
            "end": rounded(self.end),
            f"growth_per_{self.per}": rounded(self.rates, 4),
        }
        sides = {"kernel": [name for name in self.start if name not in PAGE]}
        sides["page"] = [name for name in self.start if name in PAGE]
        return {
            side: {row: {name: sample[name] for name in names} for row, sample in rows.items()}
            for side, names in sides.items()
            if names
        }


def exceeded(rates: Sample, bounds: Sample) -> list[str]:
    """A line for each figure that grows faster than its bound."""
    return [
        f"{name} grew by {rates[name]:.3f}, more than {bound}"
        for name, bound in bounds.items()
        if rates[name] > bound
    ]


def rounded(sample: Sample, digits: int = 1) -> Sample:
    return {name: round(value, digits) for name, value in sample.items()}
