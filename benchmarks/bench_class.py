"""A class on one machine: many kernels, each with one demo run, all started in the same moment.

    python -m benchmarks.bench_class [--kernels 30]

The students' browsers are on other machines, so a reader of the kernel's messages stands for each of them. Memory is
what a kernel has for itself, beside the same kernel with ipywidgets alone.
"""

import argparse
import contextlib
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil

from benchmarks.bench_providers import exponent
from benchmarks.bench_widget import percentile, row
from benchmarks.quality import write_figures
from tests.support.kernels import Cell, Kernel, start_kernel

WIDGETS = "import ipywidgets\nslider = ipywidgets.IntSlider()"
IMPORTED = "import threading\n[t.join() for t in threading.enumerate() if t.name == 'agent_nb preload']"
CELL = "%%agent hero -m demo:\nA landing page for a bakery"
IDLE_SECONDS = 10


def process(kernel: Kernel) -> psutil.Process:
    return psutil.Process(kernel.manager.provisioner.pid)  # type: ignore[union-attr]


def memory(kernels: Sequence[Kernel]) -> float:
    """The median of their own memory, in MB."""
    return statistics.median(process(kernel).memory_full_info().uss for kernel in kernels) / 1e6


def cpu(kernels: Sequence[Kernel]) -> float:
    """Their seconds of processor time so far, together."""
    return sum(sum(process(kernel).cpu_times()[:2]) for kernel in kernels)


def idle(kernels: Sequence[Kernel]) -> float:
    """Per cent of a core that one of them takes while nothing runs."""
    before = cpu(kernels)
    time.sleep(IDLE_SECONDS)
    return (cpu(kernels) - before) / IDLE_SECONDS / len(kernels) * 100


def in_all(kernels: Sequence[Kernel], work: Callable[[Kernel], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(kernels)) as pool:
        return list(pool.map(work, kernels))


def cell(code: str) -> Callable[[Kernel], None]:
    def run(kernel: Kernel) -> None:
        done = kernel.run(code, stdin=True)
        assert done.status == "ok", done.errors

    return run


def first_word(kernel: Kernel, together: threading.Barrier) -> float:
    """Seconds from the cell's start to the first words for the page; returns when the run has ended."""
    together.wait()
    start = time.perf_counter()
    message = kernel.start(CELL, stdin=True)
    kernel.until(message, says_something)
    taken = time.perf_counter() - start
    done = kernel.finish(message)
    assert done.status == "ok", done.errors
    return taken


def says_something(done: Cell) -> bool:
    """Whether the last message has words of the model."""
    content = done.comms[-1]["data"].get("content", {}) if done.comms else {}
    return any(event["type"].endswith("_delta") for event in content.get("events", ()))


@contextlib.contextmanager
def started(count: int) -> Iterator[list[Kernel]]:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kernels = [stack.enter_context(start_kernel(folder, load=False)) for _ in range(count)]
        in_all(kernels, cell(WIDGETS))
        yield kernels


def load(kernels: Sequence[Kernel]) -> None:
    in_all(kernels, cell("%load_ext agent_nb"))
    in_all(kernels, cell(IMPORTED))


def first_words(kernels: Sequence[Kernel]) -> list[float]:
    together = threading.Barrier(len(kernels))
    return in_all(kernels, lambda kernel: first_word(kernel, together))


def median_wait(count: int) -> float:
    with started(count) as kernels:
        load(kernels)
        return statistics.median(first_words(kernels))


def measure(count: int) -> dict[str, float]:
    with started(count) as kernels:
        alone, idle_alone = memory(kernels), idle(kernels)
        load(kernels)
        loaded, before = memory(kernels), cpu(kernels)
        waits = first_words(kernels)
        spent = (cpu(kernels) - before) / count
        return {
            "kernels": count,
            "ipywidgets_mb": round(alone, 1),
            "loaded_over_ipywidgets_mb": round(loaded - alone, 1),
            "after_a_run_over_ipywidgets_mb": round(memory(kernels) - alone, 1),
            "idle_percent_ipywidgets": round(idle_alone, 2),
            "idle_percent_after_a_run": round(idle(kernels), 2),
            "cpu_seconds_of_a_run": round(spent, 2),
            "first_word_seconds_median": round(statistics.median(waits), 2),
            "first_word_seconds_p95": round(percentile(waits, 95), 2),
        }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernels", type=int, default=30)
    most = parser.parse_args().kernels
    counts = [most // 4, most // 2, most]
    fewer = [median_wait(count) for count in counts[:2]]
    figures = measure(most)
    waits = [*fewer, figures["first_word_seconds_median"]]
    figures["first_word_exponent"] = round(exponent(counts, waits), 2)
    for label, value in figures.items():
        row(label.replace("_", " "), f"{value:,}")
    write_figures("class", figures)


if __name__ == "__main__":
    main()
