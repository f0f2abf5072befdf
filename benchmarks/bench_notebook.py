"""What a person waits for in a notebook: a real JupyterLab, a real kernel and a real Chromium.

    python -m benchmarks.bench_notebook [--rounds 2] [--runs 50]

- The first run in a fresh kernel, from the cell's start to its first painted word, and the same again in that kernel;
  also right after `%load_ext`, while what it needs is still being imported.
- A hundred runs at once in one kernel, four of them on screen.
- Opening a notebook of fifty finished runs, next to one whose outputs are a line of HTML each.
- How much a saved run adds to its page and transcript.
"""

import argparse
import asyncio
import itertools
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from agent_nb import Agent
from agent_nb.providers import model
from benchmarks.bench_providers import exponent
from benchmarks.bench_widget import FIREHOSE, FRAGMENT, lags, percentile, pour, renderer_seconds, row
from benchmarks.quality import write_figures
from benchmarks.streaming_worker import KEY
from tests.support.kernels import start_kernel
from tests.support.lab import (
    LOAD,
    MODEL,
    PATIENCE,
    Lab,
    close_notebooks,
    open_browser,
    open_notebook,
    start_lab,
    wait_for_kernel,
    write_notebook,
)
from tests.support.wire import Say, WireServer, reply

RUNS_AT_ONCE = 100
ON_SCREEN = 4
"""How many of them: a screen has two or three, and those just outside of it count."""
RATE = 25
"""Fragments a second of each of them: a hundred tokens."""
WORD = "Sourdough"
CELLS = {
    "demo": "%%agent hero -m demo:\nA landing page for a bakery",
    "vendor": f"%%agent hero {MODEL}\nHello",
}

IMPORTED = """
import threading
for thread in threading.enumerate():
    if thread.name == "agent_nb preload":
        thread.join()
"""
"""A cell that ends when what `%load_ext` imports in a thread is there, as after a minute of reading."""

# Runs the selected cell; resolves with the milliseconds until it shows a word of the answer and a frame has passed.
FIRST_WORD = """
([word, wait]) => new Promise((resolve, reject) => {
  const { shell, commands } = window.jupyterapp;
  const cell = shell.currentWidget.content.activeCell.node;
  const shows = (node) => [...node.childNodes].some(child => child.nodeType === 3 && child.data.includes(word));
  const visible = (root) => [...root.querySelectorAll("*")].some(node => shows(node) && node.checkVisibility());
  const start = performance.now();
  commands.execute("notebook:run-cell-and-select-next");
  const step = () => {
    if (performance.now() - start > wait) return reject(new Error(`no "${word}" after ${wait} ms`));
    const live = [...cell.querySelectorAll("*")].find(node => node.shadowRoot);
    if (!live || !visible(live.shadowRoot)) return requestAnimationFrame(step);
    requestAnimationFrame(() => resolve(performance.now() - start));
  };
  requestAnimationFrame(step);
})
"""
# The kernel counts as idle in between: it answers the widget while a cell runs.
NO_CELL_RUNS = """
() => [...document.querySelectorAll(".jp-InputPrompt")].every(prompt => !prompt.textContent.includes("*"))
"""
# Opens a notebook; resolves when its first output is drawn and the page has been idle for a second.
OPEN_IDLE = """
([path, wait]) => new Promise((resolve, reject) => {
  const tasks = [], start = performance.now();
  const observer = new PerformanceObserver(list => tasks.push(...list.getEntries().map(entry => entry.duration)));
  observer.observe({ entryTypes: ["longtask"] });
  let drawn = 0, last = start, quiet = start;
  const step = () => {
    const now = performance.now();
    if (now - last > 50) quiet = now;
    last = now;
    if (now - start > wait) return reject(new Error(`${path} was not idle after ${wait} ms`));
    if (!drawn && document.querySelector(".jp-OutputArea-output")?.getBoundingClientRect().height) drawn = now;
    if (!drawn || now - quiet < 1000) return requestAnimationFrame(step);
    observer.disconnect();
    resolve({ drawn: drawn - start, task: Math.max(0, ...tasks) });
  };
  window.jupyterapp.commands.execute("docmanager:open", { path });
  requestAnimationFrame(step);
})
"""


def first_runs(page: Page, lab: Lab, vendor: WireServer, rounds: int) -> dict[str, dict[str, int]]:
    """Median milliseconds from a cell's start to its first painted word, first and second in a kernel.

    Each once what the first run needs is imported, and right after `%load_ext`.
    """
    vendor.otherwise = lambda request: reply(Say(f"{WORD} needs time. " * 20), fragment=20)
    found = {}
    for (model_kind, cell), (when, reads) in itertools.product(
        CELLS.items(), (("", [IMPORTED]), (" at once", []))
    ):
        kind, word = model_kind + when, WORD if model_kind == "vendor" else "I am writing"
        waits: list[list[float]] = []
        for number in range(rounds):
            name = f"{kind}-{number}.ipynb"
            write_notebook(lab.root / name, LOAD, *reads, cell, cell.replace("hero", "again"))
            open_notebook(page, lab, name)
            for _ in (LOAD, *reads):
                wait_for_kernel(page)
                page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
            wait_for_kernel(page)
            waits.append([first_word(page, word), first_word(page, word)])
            close_notebooks(page, lab)
        first, again = (round(statistics.median(column)) for column in zip(*waits, strict=True))
        found[kind] = {"first_ms": first, "again_ms": again}
        row(f"{kind}: first run in a fresh kernel, to the first word (ms)", f"{first:,}")
        row(f"{kind}: the next run in that kernel (ms)", f"{again:,}")
    return found


async def warm_server(vendor: WireServer) -> None:
    """The server takes seconds for its first answer, which is no part of a run."""
    vendor.otherwise = lambda request: reply(Say(WORD))
    provider = model(MODEL.removeprefix("-m "), base_url=vendor.base_url("responses"), api_key=KEY)
    await Agent(provider).run("Hello")
    await provider.close()


def first_word(page: Page, word: str) -> float:
    waited = float(page.evaluate(FIRST_WORD, [word, PATIENCE]))
    page.wait_for_function(NO_CELL_RUNS, timeout=PATIENCE)
    return waited


def runs_at_once() -> dict[str, float]:
    with start_kernel(Path(tempfile.mkdtemp())) as kernel:
        assert kernel.run(FIREHOSE).status == "ok"
        pour(kernel, 1, RATE)
        loads = [RUNS_AT_ONCE // 4, RUNS_AT_ONCE // 2]
        shares = [pour(kernel, runs, RATE, ON_SCREEN)[0]["cpu"] for runs in loads]
        facts, traffic = pour(kernel, RUNS_AT_ONCE, RATE, ON_SCREEN)
    growth = exponent([*loads, RUNS_AT_ONCE], [*shares, facts["cpu"]])
    assert facts["reasons"] == ["end_turn"] * RUNS_AT_ONCE
    assert facts["whole"] == [len(times) * FRAGMENT for times in facts["times"]], "something was lost"
    each = [lags(traffic[id_], times) for id_, times in zip(facts["ids"], facts["times"], strict=True)]
    seen, away = (list(itertools.chain(*part)) for part in (each[:ON_SCREEN], each[ON_SCREEN:]))
    messages = sum(seen.messages for seen in traffic.values()) / facts["took"]
    row(f"{RUNS_AT_ONCE} runs at once: share of a core (%)", f"{facts['cpu'] * 100:.0f}")
    row("its growth exponent over a quarter, half and all of them", f"{growth:.2f}")
    row("messages a second, all runs together", f"{messages:.0f}")
    row("on screen: oldest fragment arrives after, median (ms)", f"{statistics.median(seen):.0f}")
    row("on screen: oldest fragment arrives after, p95 (ms)", f"{percentile(seen, 95):.0f}")
    row("off screen: oldest fragment arrives after, p95 (ms)", f"{percentile(away, 95):.0f}")
    return {
        "cpu_share": round(facts["cpu"], 3),
        "cpu_exponent": round(growth, 2),
        "messages_per_second": round(messages, 1),
        "lag_median_ms": round(statistics.median(seen), 1),
        "lag_p95_ms": round(percentile(seen, 95), 1),
        "off_screen_lag_p95_ms": round(percentile(away, 95), 1),
    }


def finished_runs(count: int) -> tuple[list[dict[str, Any]], list[int]]:
    """The saved outputs of demo runs, and the bytes of each one's page and transcript."""
    subjects = ("bakery", "florist", "museum", "gym", "bookshop")
    with start_kernel(Path(tempfile.mkdtemp())) as kernel:
        bundles, contents = [], []
        for number in range(count):
            subject = subjects[number % len(subjects)]
            cell = kernel.run(
                f"%%agent hero -m demo: --pace 0\nA landing page for a {subject}, number {number}"
            )
            bundles.append([*cell.displays, *cell.updates][-1])
            size = "len(hero.html.encode()) + sum(len(m.text.encode()) for m in hero.messages)"
            contents.append(int(kernel.value(size)))
    return bundles, contents


def saved_size(bundles: list[dict[str, Any]], contents: list[int]) -> dict[str, float]:
    sizes = [len(json.dumps(bundle, ensure_ascii=False).encode()) for bundle in bundles]
    saved, content = statistics.median(sizes), statistics.median(contents)
    row("saved output of a run (KB), median", f"{saved / 1000:.1f}")
    row("the same, relative to its page and transcript", f"{saved / content:.2f}")
    return {"saved_bytes": saved, "page_and_transcript_bytes": content, "ratio": round(saved / content, 3)}


def opening(
    browser: Browser, lab: Lab, bundles: list[dict[str, Any]], rounds: int
) -> dict[str, dict[str, float]]:
    """Each kind is opened in a JupyterLab that is already loaded, as from its file browser."""
    plain = [{"text/html": f"<p>Run {number}</p>"} for number in range(len(bundles))]
    write_notebook(lab.root / "empty.ipynb", "1")
    found = {}
    half, quarter = len(bundles) // 2, len(bundles) // 4
    kinds = {"plain": plain, "runs": bundles, "half": bundles[:half], "quarter": bundles[:quarter]}
    for kind, outputs in kinds.items():
        cells = [(f"%%agent hero\nPage {number}", [bundle]) for number, bundle in enumerate(outputs)]
        write_notebook(lab.root / f"{kind}.ipynb", *cells)
        lab.trust(f"{kind}.ipynb")
        opened = []
        for _ in range(rounds):
            page = browser.new_page()
            page.set_default_timeout(PATIENCE)
            open_notebook(page, lab, "empty.ipynb")
            wait_for_kernel(page)
            close_notebooks(page, lab)
            before = renderer_seconds(browser)
            facts = page.evaluate(OPEN_IDLE, [f"{kind}.ipynb", PATIENCE])
            opened.append((facts["drawn"], facts["task"], renderer_seconds(browser) - before))
            page.close()
        drawn, task, cpu = (min(column) for column in zip(*opened, strict=True))
        found[kind] = {
            "first_output_ms": round(drawn),
            "longest_task_ms": round(task),
            "cpu_seconds": round(cpu, 2),
        }
        label = f"{len(outputs)} {'lines of HTML' if kind == 'plain' else 'finished runs'}"
        row(f"{label}: opened to the first output (ms)", f"{drawn:,.0f}")
        row(f"{label}: longest task (ms)", f"{task:,.0f}")
        row(f"{label}: CPU until idle (s)", f"{cpu:.2f}")
    return found


def ratios(figures: dict[str, Any]) -> dict[str, float]:
    first, opened = figures["first_run"], figures["opening"]
    pairs = {
        "vendor_first_over_demo_first": (first["vendor"]["first_ms"], first["demo"]["first_ms"]),
        "demo_first_over_next": (first["demo"]["first_ms"], first["demo"]["again_ms"]),
        "opened_over_plain": (opened["runs"]["first_output_ms"], opened["plain"]["first_output_ms"]),
        "longest_task_over_plain": (opened["runs"]["longest_task_ms"], opened["plain"]["longest_task_ms"]),
    }
    sizes = {"quarter": 1, "half": 2, "runs": 4}
    growth = exponent(list(sizes.values()), [opened[kind]["cpu_seconds"] for kind in sizes])
    found = {name: round(one / other, 2) for name, (one, other) in pairs.items()}
    return {**found, "opening_cpu_exponent": round(growth, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--runs", type=int, default=50, help="finished runs in the notebook that is opened")
    options = parser.parse_args()
    figures: dict[str, Any] = {"runs_at_once": runs_at_once()}
    bundles, contents = finished_runs(options.runs)
    figures["saved_size"] = saved_size(bundles, contents)
    with WireServer.in_thread() as vendor:
        asyncio.run(warm_server(vendor))
        with (
            start_lab(Path(tempfile.mkdtemp()), environment=vendor.as_openai()) as lab,
            open_browser() as browser,
        ):
            figures["opening"] = opening(browser, lab, bundles, options.rounds)
            page = browser.new_page()
            page.set_default_timeout(PATIENCE)
            figures["first_run"] = first_runs(page, lab, vendor, options.rounds)
    figures["ratios"] = ratios(figures)
    write_figures("notebook", figures)


if __name__ == "__main__":
    main()
