"""Scrolls a saved notebook of many finished runs, and one of plain HTML outputs of the same sizes."""

import asyncio
import statistics
import tempfile
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from agent_nb import Agent, model
from agent_nb.render import bundle
from tests.bench.bench_widget import renderer_seconds
from tests.support.lab import (
    PATIENCE,
    Lab,
    open_browser,
    open_notebook,
    start_lab,
    wait_for_kernel,
    write_notebook,
)

PROMPTS = (
    "A landing page for a bakery in Lyon",
    "A portfolio for a potter",
    "A recipe for pancakes",
    "A form for a museum",
)
DISTANCE = 30_000
"""Pixels to scroll: about 50 outputs."""
SPEED = 3_000
"""Pixels a second, as somebody who searches for a cell."""
LONG = 50
"""Milliseconds from which on a frame is called long."""
OUTER = ".jp-Notebook .jp-WindowedPanel-outer"
RECORD = """() => {
  const gaps = [];
  let last = performance.now();
  const step = (now) => {
    gaps.push(now - last);
    last = now;
    if (window.recording) requestAnimationFrame(step);
  };
  window.recording = gaps;
  requestAnimationFrame(step);
}"""
STOP = "() => { const gaps = window.recording; window.recording = null; return gaps.slice(2); }"


async def _finished_runs() -> list[dict[str, str]]:
    agent = Agent(model("demo:", pace=0))
    runs = []
    for number, prompt in enumerate(PROMPTS):
        handle = agent.start(prompt)
        handle.label(f"page{number}", f"page{number}-soak")
        runs.append(bundle(await handle))
    return runs


def _plain(size: int) -> dict[str, str]:
    paragraph = "<p>Slow dough, real butter, and a long walk to the market before anybody else is up.</p>"
    return {"text/html": (paragraph * (size // len(paragraph) + 1)), "text/plain": "bread"}


def scroll(outputs: int) -> dict[str, Any]:
    """How long frames take while either notebook scrolls, the CPU of the page, and the ratios of the two."""
    runs = asyncio.run(_finished_runs())
    contents = {"finished_runs": runs, "plain_html": [_plain(len(run["text/html"])) for run in runs]}
    with tempfile.TemporaryDirectory() as folder, start_lab(Path(folder)) as lab:
        for name, bundles in contents.items():
            _write(lab, name, bundles, outputs)
        with open_browser(scrollbars=True) as browser:
            measured = {name: _measure(browser, lab, name) for name in contents}
    ours, plain = measured["finished_runs"], measured["plain_html"]
    compared = ("frame_ms_p50", "frame_ms_p95", "frame_ms_p99", "page_cpu_seconds")
    ratios = {name: round(ours[name] / plain[name], 2) for name in compared}
    return {f"a notebook of {outputs} outputs scrolled": measured | {"ratio": ratios}}


def _write(lab: Lab, name: str, bundles: Sequence[dict[str, str]], outputs: int) -> None:
    cells = [(f"# Cell {number}", [one]) for number, one in enumerate(islice(cycle(bundles), outputs))]
    write_notebook(lab.root / f"{name}.ipynb", *cells)
    lab.trust(f"{name}.ipynb")


def _measure(browser: Any, lab: Lab, name: str) -> dict[str, float]:
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    page.set_default_timeout(PATIENCE)
    open_notebook(page, lab, f"{name}.ipynb")
    wait_for_kernel(page)
    session = page.context.new_cdp_session(page)
    cpu = renderer_seconds(browser)
    page.evaluate(RECORD)
    box = page.locator(OUTER).bounding_box()
    # Beside the outputs: over the frame of a page the wheel would scroll that page.
    place = {"x": box["x"] + 30, "y": box["y"] + 400}
    gesture = {**place, "yDistance": -DISTANCE, "speed": SPEED, "gestureSourceType": "mouse"}
    session.send("Input.synthesizeScrollGesture", gesture)
    gaps = page.evaluate(STOP)
    cpu = renderer_seconds(browser) - cpu
    scrolled = page.evaluate("(outer) => document.querySelector(outer).scrollTop", OUTER)
    page.context.close()
    assert scrolled > 0, "the notebook did not scroll"
    percentiles = statistics.quantiles(gaps, n=100, method="inclusive")
    return {
        "pixels": round(scrolled),
        "frames": len(gaps),
        "frame_ms_p50": round(percentiles[49], 1),
        "frame_ms_p95": round(percentiles[94], 1),
        "frame_ms_p99": round(percentiles[98], 1),
        "long_frames": sum(gap > LONG for gap in gaps),
        "page_cpu_seconds": round(cpu, 2),
    }
