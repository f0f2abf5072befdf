"""Scrolls a saved notebook of many finished runs, and others with plain outputs of the same height.

All of them are scrolled in turn, so that a busy machine slows each of them equally.
"""

import asyncio
import statistics
import tempfile
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from agent_nb import Agent, model
from agent_nb.pages.preview import quoted
from agent_nb.render import bundle
from benchmarks.bench_widget import renderer_seconds
from tests.support.lab import (
    LOAD,
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
ROUNDS = 2
DISTANCE = 24_000
"""Pixels to scroll: about 35 outputs."""
SPEED = 3_000
"""Pixels a second, as somebody who searches for a cell."""
FRAME = 1000 / 60
LONG = 50
"""Milliseconds from which on a frame is called long."""
OUTER = ".jp-Notebook .jp-WindowedPanel-outer"
WITH_WIDGET = "finished_runs_with_widget"
"""The extension is loaded and a run of its own comes first, so that the page has the widget."""
ATTACHED = "(outputs) => document.querySelectorAll('.jp-OutputArea-output').length >= outputs"
"""JupyterLab attaches the cells of a long notebook one by one while it is idle."""
LET_GO = "() => document.querySelectorAll('.anb-stage iframe').length < 12"
"""The widget lets go of the pages that are far from the screen."""
SCROLL = """([outer, distance, speed]) => new Promise((resolve) => {
  const panel = document.querySelector(outer);
  const gaps = [];
  let last = 0;
  let pixels = 0;
  panel.scrollTop = 0;
  const step = (now) => {
    if (last) {
      gaps.push(now - last);
      const before = panel.scrollTop;
      panel.scrollTop = before + (speed * (now - last)) / 1000;
      const moved = panel.scrollTop - before;
      pixels += moved;
      if (pixels >= distance || moved <= 0) return resolve({ gaps, pixels });
    }
    last = now;
    requestAnimationFrame(step);
  };
  setTimeout(() => requestAnimationFrame(step), 1000);
})"""
"""The first frames after the jump to the top are not counted."""

Pass = dict[str, Any]
"""The milliseconds between frames, the pixels scrolled, and the CPU seconds of the page and its frames."""


def scroll(outputs: int) -> dict[str, Any]:
    """How long frames take in each notebook, when it is scrolled for the first time and again, and the ratios."""
    contents = asyncio.run(_contents())
    passes: dict[str, list[list[Pass]]] = {name: [] for name in contents}
    with tempfile.TemporaryDirectory() as folder, start_lab(Path(folder)) as lab:
        for name, bundles in contents.items():
            _write(lab, name, bundles, outputs)
        with open_browser(scrollbars=True) as browser:
            _passes(browser, lab, next(iter(contents)), outputs)  # loads JupyterLab itself
            for _ in range(ROUNDS):
                for name in contents:
                    passes[name].append(_passes(browser, lab, name, outputs))
    title = f"a notebook of {outputs} outputs scrolled"
    return {
        f"{title} {which}": _compared({name: [each[index] for each in passes[name]] for name in contents})
        for index, which in enumerate(("for the first time", "again"))
    }


async def _contents() -> dict[str, list[dict[str, str]]]:
    """The outputs of each notebook: text, pages in frames as anybody would display them, and finished runs."""
    agent = Agent(model("demo:", pace=0))
    runs, framed = [], []
    for number, prompt in enumerate(PROMPTS):
        handle = agent.start(prompt)
        handle.label(f"page{number}", f"page{number}-soak")
        run = await handle
        runs.append(bundle(run))
        style = 'style="width:100%;height:100%" sandbox="allow-scripts"'
        frame = f"<iframe {style} srcdoc={quoted(run.html or '')}></iframe>"
        framed.append(_block(frame))
    text = "<p>Slow dough, real butter, and a long walk to the market before anybody else is up.</p>" * 25
    return {"plain_html": [_block(text)], "framed_pages": framed, "finished_runs": runs, WITH_WIDGET: runs}


def _block(inside: str) -> dict[str, str]:
    """As high as a finished run."""
    return {"text/html": f'<div style="height:630px;overflow:hidden">{inside}</div>', "text/plain": "bread"}


def _write(lab: Lab, name: str, bundles: Sequence[dict[str, str]], outputs: int) -> None:
    cells = [(f"# Cell {number}", [one]) for number, one in enumerate(islice(cycle(bundles), outputs))]
    own = (LOAD, "%%agent hero -m demo: --pace 0\nA page") if name == WITH_WIDGET else ()
    write_notebook(lab.root / f"{name}.ipynb", *own, *cells)
    lab.trust(f"{name}.ipynb")


def _passes(browser: Any, lab: Lab, name: str, outputs: int) -> list[Pass]:
    """Opens the notebook and scrolls it twice."""
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    page.set_default_timeout(PATIENCE)
    open_notebook(page, lab, f"{name}.ipynb")
    wait_for_kernel(page)
    page.wait_for_function(ATTACHED, arg=outputs, timeout=5 * PATIENCE)
    if name == WITH_WIDGET:
        for _ in range(2):
            page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
        expect(page.locator("[data-anb-live]")).to_have_count(1, timeout=PATIENCE)
        wait_for_kernel(page)
        page.wait_for_function(LET_GO, timeout=PATIENCE)
    passes = []
    for _ in range(2):
        cpu = renderer_seconds(browser)
        measured = page.evaluate(SCROLL, [OUTER, DISTANCE, SPEED])
        passes.append({**measured, "cpu": renderer_seconds(browser) - cpu})
        assert measured["pixels"] >= DISTANCE, f"{name} scrolled only {measured['pixels']:.0f} pixels"
    page.context.close()
    return passes


def _compared(passes: dict[str, list[Pass]]) -> dict[str, Any]:
    figures = {name: _figures(each) for name, each in passes.items()}
    compared = ("frame_ms_p50", "frame_ms_p95", "frame_ms_p99", "page_cpu_seconds")
    ratios = {
        f"{runs} to {name}": {one: round(figures[runs][one] / figures[name][one], 2) for one in compared}
        for runs in ("finished_runs", WITH_WIDGET)
        for name in ("plain_html", "framed_pages")
    }
    return figures | ratios


def _figures(passes: Sequence[Pass]) -> dict[str, float]:
    gaps = [gap for each in passes for gap in each["gaps"]]
    percentiles = statistics.quantiles(gaps, n=100, method="inclusive")
    return {
        "pixels": round(statistics.mean(each["pixels"] for each in passes)),
        "frames": len(gaps),
        "dropped_frames": sum(max(0, round(gap / FRAME) - 1) for gap in gaps),
        "frame_ms_p50": round(percentiles[49], 1),
        "frame_ms_p95": round(percentiles[94], 1),
        "frame_ms_p99": round(percentiles[98], 1),
        "long_frames": sum(gap > LONG for gap in gaps),
        "page_cpu_seconds": round(sum(each["cpu"] for each in passes), 2),
    }
