"""`python -m tests.bench [NAME ...]` runs the benches one after another and prints one page of figures.

What a bench writes to standard error is shown only if it fails. Each leaves its figures in `build/quality/`.
"""

import subprocess
import sys

BENCHES = (
    "providers",
    "variants",
    "many",
    "executor",
    "magic",
    "notebook",
    "widget",
    "arrangements",
    "demo",
    "first_second",
    "idle",
)


def run(name: str) -> bool:
    print(f"\n== {name}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", f"tests.bench.bench_{name}"], stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        print(f"{name} failed:\n{done.stderr[-3000:]}")
    return done.returncode == 0


if __name__ == "__main__":
    failed = [name for name in sys.argv[1:] or BENCHES if not run(name)]
    sys.exit(1 if failed else 0)
