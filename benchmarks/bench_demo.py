"""How soon a page of the demo model is seen: its events at their own pace, in the built page in a real Chromium.

    python -m benchmarks.bench_demo [KIND ...]

The clock starts with the run and stops when the headline has a size in the preview. The aim is two seconds.
"""

import asyncio
import sys
import threading
from typing import Any

from playwright.sync_api import Error, Page, sync_playwright

from agent_nb import Agent
from agent_nb._base.wire import to_wire
from agent_nb.demo import DemoProvider
from benchmarks.quality import write_figures
from tests.support.demo_kit import PROMPTS
from tests.support.widget_stage import CHROMIUM, FLAGS, META, DevServer

SEEN = "() => document.querySelector('h1')?.getBoundingClientRect().height > 0"
PATIENCE = 3_000
"""How often to look."""


def recorded(prompt: str) -> list[Any]:
    run = asyncio.run(Agent(DemoProvider(pace=0)).run(prompt))
    return [to_wire(event) for event in run.events]


def first_sight(page: Page, address: str, events: list[Any]) -> float:
    """Seconds from the start of the run until its headline is seen."""
    page.goto(f"{address}/?record&speed=1")
    page.evaluate(
        "record => { window.record = record }", {"meta": to_wire(META), "events": events, "ready": None}
    )
    page.evaluate("window.began = performance.now(); window.start()")
    for _ in range(PATIENCE):
        for frame in page.frames[1:]:
            try:
                if frame.evaluate(SEEN):
                    return float(page.evaluate("(performance.now() - window.began) / 1000"))
            except Error:  # the frame was replaced meanwhile
                continue
        page.wait_for_timeout(10)
    raise TimeoutError("The headline was not seen.")


def main() -> None:
    runs = {kind: recorded(PROMPTS[kind]) for kind in sys.argv[1:] or PROMPTS}
    figures = {}
    server = DevServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for kind, events in runs.items():
            seconds = first_sight(browser.new_page(), server.address, events)
            figures[kind] = {"headline_seconds": round(seconds, 2), "all_seconds": events[-1]["at"]}
            print(f"{kind:10} {seconds:5.2f} s until the headline, {events[-1]['at']:5.1f} s in all")
        browser.close()
    server.shutdown()
    write_figures("demo", figures)


if __name__ == "__main__":
    main()
