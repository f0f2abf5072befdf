"""`python -m benchmarks [NAME ...]` runs the benches one after another and prints one page of figures.

Each leaves its figures in `build/quality/`. What it writes to standard error is shown only if it fails. One that
takes longer than `LIMIT` is ended and counts as failed, so that the others still run.
"""

import signal
import subprocess
import sys
import time

BENCHES = (
    "patterns",
    "providers",
    "variants",
    "many",
    "executor",
    "magic",
    "branch",
    "notebook",
    "widget",
    "bound",
    "arrangements",
    "demo",
    "first_second",
    "idle",
    "class",
)
LIMIT = 300
"""Seconds. On a quiet machine most benches take one minute, and all of them less than 15."""
CLEAN_UP = 30
"""Seconds for an interrupted bench to end its servers, kernels and browsers."""


def run(name: str) -> bool:
    print(f"\n== {name}", flush=True)
    started = time.monotonic()
    command = [
        sys.executable,
        "-u",
        "-m",
        f"benchmarks.bench_{name}",
    ]  # -u: each figure is printed when it is known
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        errors = finish(process)
    print(f"   {time.monotonic() - started:.0f} s", flush=True)
    if process.returncode:
        print(f"{name} failed:\n{errors[-3000:]}", flush=True)
    return process.returncode == 0


def finish(process: "subprocess.Popen[str]") -> str:
    """Waits for a bench, and interrupts it at the limit; returns what it wrote to standard error."""
    try:
        return process.communicate(timeout=LIMIT)[1]
    except subprocess.TimeoutExpired:
        print(f"   not done after {LIMIT} s", flush=True)
        process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=CLEAN_UP)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1]


if __name__ == "__main__":
    failed = [name for name in sys.argv[1:] or BENCHES if not run(name)]
    sys.exit(1 if failed else 0)
