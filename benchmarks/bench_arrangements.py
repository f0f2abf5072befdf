"""What eight variants cost the page: a recorded run, streamed at twice its pace, in each arrangement.

    python -m benchmarks.bench_arrangements

One at a time is the measure: only one preview is fed there. CPU is that of all frames together.
"""

import json
import os
from typing import Any

from benchmarks.bench_widget import open_stage, renderer_seconds
from benchmarks.quality import write_figures
from tests.support.widget_stage import BUNDLE, CHROMIUM, DevServer

ARRANGEMENTS = ("one", "side", "grid")
WATCHED = 8
"""Seconds: the variants stream all the while."""
WATCH = """
(milliseconds) => new Promise(resolve => {
  const tasks = [], gaps = [];
  const observer = new PerformanceObserver(list => tasks.push(...list.getEntries().map(entry => entry.duration)));
  observer.observe({ entryTypes: ["longtask"] });
  const start = performance.now();
  let last = start;
  const step = () => {
    const now = performance.now();
    gaps.push(now - last);
    last = now;
    if (now - start < milliseconds) return requestAnimationFrame(step);
    observer.disconnect();
    const frames = document.querySelector("[data-anb-run]").shadowRoot.querySelectorAll("iframe").length;
    resolve({ rate: gaps.length / (now - start) * 1000, gap: Math.max(...gaps), tasks, frames });
  };
  requestAnimationFrame(step);
})
"""


def watch(browser: Any, server: DevServer, arrangement: str) -> dict[str, float]:
    """Streams eight variants, prints how it went."""
    page = browser.new_context(viewport={"width": 1000, "height": 900}).new_page()
    layout = json.dumps({"arrangement": arrangement, "height": 780})
    page.add_init_script(f"self === top && localStorage.setItem('agent_nb.layout', '{layout}')")
    page.goto(f"{server.address}/?run=eight&speed=2")
    page.wait_for_timeout(1000)
    before = renderer_seconds(browser)
    facts = page.evaluate(WATCH, WATCHED * 1000)
    cost = renderer_seconds(browser) - before
    task = max(facts["tasks"], default=0)
    print(
        f"  {arrangement:<12}{facts['frames']:>9}{facts['rate']:>11.1f}"
        f"{task:>12.0f} ms{facts['gap']:>11.0f} ms{cost:>10.2f} s"
    )
    page.context.close()
    return {
        "previews": facts["frames"],
        "frames_per_second": round(facts["rate"], 1),
        "longest_task_ms": round(task),
        "longest_gap_ms": round(facts["gap"]),
        "cpu_seconds": round(cost, 2),
    }


def main() -> None:
    if not (CHROMIUM and BUNDLE.exists()):
        print("\nThe page needs Chromium and the built bundle: `make chromium build`.")
        return
    with open_stage() as (browser, server):
        print(f"\nEight variants on the page (load of the machine: {os.getloadavg()[0]:.1f})")
        print(f"  {'':<12}{'previews':>9}{'frames/s':>11}{'longest task':>15}{'longest gap':>14}{'CPU':>12}")
        figures = {arrangement: watch(browser, server, arrangement) for arrangement in ARRANGEMENTS}
        write_figures("arrangements", figures)
        print("  limits: at least 55 frames/s, no task over 50 ms")


if __name__ == "__main__":
    main()
