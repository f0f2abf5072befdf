"""What the magic costs on a real kernel: loading it, and how long the loop stalls in a run.

python -m benchmarks.bench_magic
"""

import ast
import compileall
import tempfile
from pathlib import Path

import agent_nb
from benchmarks.quality import GOALS, write_figures
from tests.support.kernels import Kernel, start_kernel

LOAD = """
import sys, time
before, start, cpu = set(sys.modules), time.perf_counter(), time.process_time()
get_ipython().run_line_magic("load_ext", "agent_nb")
milliseconds = [round(seconds * 1000, 1) for seconds in (time.perf_counter() - start, time.process_time() - cpu)]
loaded = (*milliseconds, len(set(sys.modules) - before))
"""
WATCH = """
import asyncio, time
gaps = []
async def watch():
    last = time.perf_counter()
    while True:
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        gaps.append((now - last - 0.001) * 1000)
        last = now
task = asyncio.get_running_loop().create_task(watch())
"""
CELL = "%%agent hero -m demo: --pace 0.1\nA landing page for a bakery"


def longest_stall(kernel: Kernel, *, watched: bool) -> int:
    kernel.run("gaps.clear()")
    kernel.run(CELL, stdin=watched)
    return int(kernel.value("round(max(gaps))"))


def main() -> None:
    most, _ = GOALS["magic/*/load_cpu_ms"]
    print(
        f"%load_ext: milliseconds, of CPU (at most {most}), new modules; longest stall of the loop (under 50)"
    )
    compileall.compile_dir(Path(agent_nb.__file__).parent, quiet=1)  # as `pip install` does
    figures = []
    for _ in range(5):
        with start_kernel(Path(tempfile.mkdtemp()), load=False) as kernel:
            kernel.run("1")
            kernel.run(LOAD)
            kernel.run(WATCH)
            stalls = [longest_stall(kernel, watched=watched) for watched in (True, False)]
            milliseconds, cpu, modules = ast.literal_eval(kernel.value("loaded"))
            print(
                f"  load ({milliseconds}, {cpu}, {modules}), first run {stalls[0]} ms, second {stalls[1]} ms"
            )
            figures.append(
                {"load_ms": milliseconds, "load_cpu_ms": cpu, "modules": modules, "longest_stall_ms": stalls}
            )
    write_figures("magic", figures)


if __name__ == "__main__":
    main()
