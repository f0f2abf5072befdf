"""What finished runs cost while nobody touches them: the CPU and memory of a Chromium with many of them on one page.

python -m benchmarks.bench_idle [--runs 60] [--seconds 20]

The goal is under 1 % of a core for 60 runs. An empty page stands beside them, because the browser itself costs
something too.
"""

import argparse
import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import psutil

from benchmarks.quality import write_figures
from tests.support.widget_stage import CHROMIUM, FLAGS, DevServer, event, wrote

PAGE = "<!doctype html><title>Bread</title><h1>Bread</h1>" + "<p>Slow dough, real butter.</p>" * 40
USAGE = {"input": 100, "cached_read": 0, "cached_write": 0, "output": 20, "reasoning": 0}
SETTLE = 5
ONCE = "--js-flags=--no-memory-reducer"
"""V8 collects garbage twice about 20 and 30 s after a load, 0.3 s of CPU for 60 runs, and then no more. That is part of
loading a page, and which of the two falls into the seconds measured would be chance."""

# The widget with a kernel that has all these runs and sends them at once.
SHOW = """async ({ count, events }) => {
  const { default: widget } = await import("/widget.js");
  let receive;
  const get = (name) => (name === "kernel" ? "bench" : "");
  const model = { get, on: (name, callback) => { receive = callback; }, off() {}, send() {} };
  document.body.innerHTML = Array.from({ length: count }, (_, run) => `<div data-anb-run="k${run}"></div>`).join("");
  widget.initialize({ model });
  for (let run = 0; run < count; run++) {
    const meta = { key: `k${run}`, name: "hero", model: "demo:", demo: true, network: false, digest: `d${run}` };
    receive({ kind: "batch", run_id: `r${run}`, first: 1, last: events.length, events, meta });
    await new Promise(requestAnimationFrame);
  }
}"""


def finished_run() -> list[dict[str, Any]]:
    ended = event("run_finished", reason="end_turn", usage=USAGE, cost=0.0, seconds=1.0, error=None)
    started = event("run_started", model="demo:", prompt="A page", settings={})
    return [started, event("turn_started", step=1), *wrote("index.html", PAGE), ended]


def processes() -> list[psutil.Process]:
    return [one for one in psutil.Process(os.getpid()).children(recursive=True) if "chrom" in one.name()]


def cpu() -> float:
    return sum(sum(one.cpu_times()[:2]) for one in processes())


def memory() -> float:
    return sum(one.memory_full_info().uss for one in processes()) / 1e6


@contextlib.contextmanager
def dev_server() -> Iterator[DevServer]:
    server = DevServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def measure(page: Any, seconds: float) -> dict[str, float]:
    page.wait_for_timeout(1000 * SETTLE)
    before, start = cpu(), time.monotonic()
    page.wait_for_timeout(1000 * seconds)
    share = (cpu() - before) / (time.monotonic() - start)
    frames = len(page.frames) - 1
    return {"percent_of_a_core": round(100 * share, 1), "megabytes": round(memory()), "frames": frames}


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    with dev_server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, ONCE])
        page = browser.new_page()
        figures = {}
        for count in (0, options.runs):
            page.goto(f"{server.address}/?record")
            page.evaluate(SHOW, {"count": count, "events": finished_run()})
            found = figures[f"{count} finished runs"] = measure(page, options.seconds)
            share, size, frames = found.values()
            print(f"  {count} finished runs: {share} % of a core, {size} MB, {frames} frames")
        write_figures("idle", figures)
        browser.close()


if __name__ == "__main__":
    main()
