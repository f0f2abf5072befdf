"""What a branch costs: making it and its first call, over the same call in the session, by the memory of the kernel.

python -m benchmarks.bench_branch
"""

import ast
import tempfile
from pathlib import Path

from benchmarks.quality import write_figures
from tests.support.kernels import start_kernel

SIZES = {"0": 0, "100 MB": 100, "1 GB": 1000}
TRIES = 5
MEASURE = """
import statistics, time
from agent_nb import kernel_tools
from agent_nb.files import Files, Workspace
from agent_nb.tools import ToolContext

tool = kernel_tools()[-1]
context, args = ToolContext(files=Workspace(Files()), progress=print), {"code": "total = sum(range(1000))"}

async def in_session():
    await tool.run(args, context)

async def in_branch():
    branch = await tool.branches.open()
    await branch.call(tool.name, args, context)
    branch.end()

async def milliseconds(work):
    times = []
    for _ in range(TRIES):
        started = time.perf_counter()
        await work()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)
"""


def main() -> None:
    print("A branch and its first call, over a call in the session (medians)")
    figures = {}
    with start_kernel(Path(tempfile.mkdtemp())) as kernel:
        kernel.run(f"TRIES = {TRIES}\n{MEASURE}")
        for label, megabytes in SIZES.items():
            kernel.run(
                f"data = bytearray({megabytes} * 1_000_000)\nfor n in range(0, len(data), 4096): data[n] = 1"
            )
            kernel.run("figures = [await milliseconds(work) for work in (in_session, in_branch)]")
            session, branch = ast.literal_eval(kernel.value("figures"))
            print(
                f"  {label}: {session:.1f} ms in the session, {branch:.1f} ms in a branch, {branch / session:.1f} times"
            )
            figures[label] = {"session_ms": session, "branch_ms": branch, "ratio": branch / session}
    write_figures("branch", figures)


if __name__ == "__main__":
    main()
