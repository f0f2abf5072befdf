"""What the widget costs: a real kernel over a real comm, and the built page in a real Chromium.

    python -m benchmarks.bench_widget [--kernel] [--page]

The kernel streams one file at 5 to 5,000 fragments a second for five seconds each. The page gets files at 60
updates a second on the dev page. A limit stands beside each figure; on a busy machine look at ratios and exponents.
Text must be sent within 100 ms of its arrival. From 500 fragments a second on, the messages must also be few and light.
"""

import argparse
import contextlib
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.bench_providers import exponent
from benchmarks.quality import write_figures
from tests.support.kernels import PATIENCE, Kernel, start_kernel
from tests.support.widget_stage import BUNDLE, CHROMIUM, FLAGS, DevServer, Stage, event

FRAGMENT = 20
RATE = 5000
RATES = [5, 25, 50, 100, 500]
SECONDS = 5
RUNS_AT_ONCE = 8
SIZES = [50, 100, 200, 400]
PIECE = 1000
FIRST_PAINTS = 10
FIGURES: dict[str, Any] = {}
"""What was printed, by its label."""

FIREHOSE = f"""
import asyncio, json, time
from agent_nb import Agent
from agent_nb.core.messages import ToolCall, Usage, assistant
from agent_nb.notebook.live.hub import Hub
from agent_nb.notebook.live.live_run import RunStream
from agent_nb.notebook.views.views import LiveView
from agent_nb.core.options import Options
from agent_nb.providers.base import CallPiece, CallStarted, Provider, TextPiece, Turn

CALL = "toolu_01A09q90qw90lq917835lq9"  # as long as a vendor's
LINE = "<p>Bread and butter.".ljust({FRAGMENT})

class Firehose(Provider):
    name = "bench:firehose"

    def __init__(self, rate):
        self.rate, self.times = rate, []

    async def stream(self, request):
        if len(request.messages) > 1:
            yield TextPiece("Done.")
            yield Turn(message=assistant("Done."), stop="end_turn", usage=Usage(), model="x")
            return
        head = '{{"path": "index.html", "content": "'
        yield CallStarted(CALL, "create_file")
        yield CallPiece(CALL, head)
        start = time.monotonic()
        while len(self.times) < self.rate * {SECONDS}:
            due = int((time.monotonic() - start) * self.rate) + 1
            for _ in range(min(due, self.rate * {SECONDS}) - len(self.times)):
                self.times.append(time.monotonic())
                yield CallPiece(CALL, LINE)
            await asyncio.sleep(0.004)
        yield CallPiece(CALL, '"}}')
        call = ToolCall(CALL, "create_file", head + LINE * len(self.times) + '"}}')
        yield Turn(message=assistant(call), stop="tool_use", usage=Usage(), model="x")

hub_seconds = 0.0
sent = {{}}
plain_flush, plain_send = RunStream.flush, Hub.send
def timed_flush(self):
    global hub_seconds
    start = time.thread_time()
    plain_flush(self)
    hub_seconds += time.thread_time() - start
def timed_send(self, message):
    plain_send(self, message)
    sent.setdefault(message["run_id"], []).append(time.monotonic())
RunStream.flush, Hub.send = timed_flush, timed_send

async def pour(runs, rate, on_screen):
    global hub_seconds
    hub_seconds, cpu, start = 0.0, time.process_time(), time.monotonic()
    sent.clear()
    sources, work = [Firehose(rate) for _ in range(runs)], []
    for number, source in enumerate(sources):
        handle = Agent(source).start("A page.")
        handle.label("hero", f"hero-{{runs}}f3a9{{number}}")
        view = LiveView(handle, Options())
        view.start("")
        view._live.stream.watched.set()  # a page watches: no checkpoints for those that come late
        view._live.stream.set_on_screen("page", on_screen=number < on_screen)
        work.append((handle, view))
    for handle, view in work:
        view.finish(await handle, None, [])
    took = time.monotonic() - start
    return {{
        "times": [source.times for source in sources],
        "ids": [handle.id for handle, view in work],
        "sent": [sent[handle.id] for handle, view in work],
        "took": took,
        "hub": hub_seconds / took,
        "cpu": (time.process_time() - cpu) / took,
        "reasons": [handle.result.reason for handle, view in work],
        "whole": [len(handle.result.files["index.html"]) for handle, view in work],
    }}
"""


@dataclass
class Traffic:
    """What came over the comm for one run."""

    messages: int = 0
    size: int = 0
    streamed: list[tuple[int, int]] = field(default_factory=list)
    """Bytes and characters of each message that carries text, its envelope and all."""
    characters: int = 0
    oldest: list[tuple[int, int]] = field(default_factory=list)
    """Which message carries text, and the oldest fragment in it."""
    arrivals: list[float] = field(default_factory=list)
    """When each of these messages arrived."""


def row(label: str, figure: str, limit: str = "") -> None:
    print(f"  {label:<58}{figure:>12}   {limit}")
    FIGURES[label] = figure


def pour(
    kernel: Kernel, runs: int, rate: int, on_screen: int = RUNS_AT_ONCE
) -> tuple[dict[str, Any], dict[str, Traffic]]:
    """Runs in the kernel, the first ones on screen, with their traffic as a page receives it."""
    code = f"poured = await pour({runs}, {rate}, {on_screen})\nprint('poured', json.dumps(poured))"
    cell = kernel.start(code, stdin=True)
    traffic: dict[str, Traffic] = {}
    printed, idle, deadline = "", False, time.monotonic() + PATIENCE
    while not idle:
        message = kernel.client.get_iopub_msg(timeout=max(0.1, deadline - time.monotonic()))
        content = message["content"]
        match message["msg_type"]:
            case "comm_msg" if content["data"].get("method") == "custom":
                count(traffic, content["data"]["content"])
            case "stream":
                printed += content["text"]
            case "error":
                raise RuntimeError("\n".join(content["traceback"]))
            case "status" if message["parent_header"].get("msg_id") == cell:
                idle = content["execution_state"] == "idle"
    return json.loads(printed.partition("poured ")[2]), traffic


def count(traffic: dict[str, Traffic], message: Any) -> None:
    seen = traffic.setdefault(message["run_id"], Traffic())
    size = len(json.dumps(message, ensure_ascii=False).encode())
    text = "".join(item["text"] for item in message.get("events", ()) if item["type"] == "file_delta")
    if text:
        seen.streamed.append((size, len(text)))
        seen.oldest.append((seen.messages, seen.characters // FRAGMENT))
        seen.arrivals.append(time.monotonic())
        seen.characters += len(text)
    seen.messages += 1
    seen.size += size


def waits(seen: Traffic, sent: list[float], times: list[float]) -> list[float]:
    """Milliseconds from the arrival of each message's oldest fragment in the kernel to its sending."""
    return [(sent[message] - times[fragment]) * 1000 for message, fragment in seen.oldest]


def lags(seen: Traffic, times: list[float]) -> list[float]:
    """Milliseconds from the arrival of each message's oldest fragment to the message's arrival here."""
    return [
        (at - times[fragment]) * 1000 for at, (_, fragment) in zip(seen.arrivals, seen.oldest, strict=True)
    ]


def measure_kernel() -> None:
    with start_kernel(Path(tempfile.mkdtemp())) as kernel:
        assert kernel.run(FIREHOSE).status == "ok"
        print(f"\nOver the comm: one file at {RATE:,} fragments a second for {SECONDS} s")
        facts, traffic = pour(kernel, 1, RATE)
        times, (seen,) = facts["times"][0], traffic.values()
        waited, late = waits(seen, facts["sent"][0], times), lags(seen, times)
        content = len(times) * FRAGMENT
        assert facts["reasons"] == ["end_turn"]
        assert seen.characters == facts["whole"][0] == content, "something was lost"
        row("fragments a second", f"{len(times) / (times[-1] - times[0]):,.0f}")
        row("messages a second", f"{seen.messages / facts['took']:.1f}", "at most 30")
        row("bytes, relative to the content", f"{seen.size / content:.3f}", "at most 1.25")
        row("oldest fragment is sent after, p95 (ms)", f"{percentile(waited, 95):.0f}", "under 100")
        row("oldest fragment arrives after, p95 (ms)", f"{percentile(late, 95):.0f}")
        row("the same, last message (ms)", f"{late[-1]:.0f}", "under 100")
        row("hub, share of a core (%)", f"{facts['hub'] * 100:.1f}", "at most 2")
        row("kernel with the engine, share of a core (%)", f"{facts['cpu'] * 100:.1f}")
        measure_rates(kernel)
        rate = RATE // RUNS_AT_ONCE
        print(f"\n{RUNS_AT_ONCE} runs at once, {rate} fragments a second each")
        facts, traffic = pour(kernel, RUNS_AT_ONCE, rate)
        every = [lags(traffic[id_], times) for id_, times in zip(facts["ids"], facts["times"], strict=True)]
        first, last = (
            statistics.median(lag for late in every for lag in part(late))
            for part in (lambda late: late[: len(late) // 5], lambda late: late[-len(late) // 5 :])
        )
        row("median lag in the first fifth (ms)", f"{first:.0f}")
        row("median lag in the last fifth (ms)", f"{last:.0f}", "no more than in the first")


def measure_rates(kernel: Kernel) -> None:
    print(
        f"\nThe same at other rates, {FRAGMENT} characters each; limits from 500/s on: 30 messages/s, 1.25x"
    )
    print(
        f"  {'fragments/s':>12}{'messages/s':>12}{'bytes/content':>15}{'sent after, median':>20}{'p95':>9}"
        f"{'hub':>8}{'bytes once':>12}"
    )
    for rate in RATES:
        facts, traffic = pour(kernel, 1, rate)
        times, (seen,) = facts["times"][0], traffic.values()
        assert seen.characters == len(times) * FRAGMENT, "something was lost"
        waited, took = waits(seen, facts["sent"][0], times), seen.arrivals[-1] - seen.arrivals[0]
        # The first and the last also say how the run begins and ends, which costs the same at any rate.
        sizes, texts = zip(*seen.streamed[1:-1], strict=True)
        often, share = (len(seen.arrivals) - 1) / took, sum(sizes) / sum(texts)
        print(
            f"  {rate:>12}{often:>12.1f}{share:>15.3f}{statistics.median(waited):>17.0f} ms"
            f"{percentile(waited, 95):>6.0f} ms{facts['hub'] * 100:>6.1f} %{seen.size - sum(sizes):>12,}"
        )
        figures = {"messages_per_second": round(often, 1), "bytes_times_content": round(share, 3)}
        FIGURES[f"{rate} fragments/s"] = figures | {"sent_after_p95_ms": round(percentile(waited, 95), 1)}


def percentile(values: list[float], share: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1]


STREAM = """
([size, piece]) => new Promise(resolve => {
  const { kernel } = window;
  const lines = Math.ceil(size * 1000 / (piece || 1000));
  const text = "<p>Bread and <b>butter</b>, baked slowly.</p>\\n".repeat(Math.ceil(piece / 44)).slice(0, piece);
  const tasks = [];
  const observer = new PerformanceObserver(list => tasks.push(...list.getEntries().map(entry => entry.duration)));
  observer.observe({ entryTypes: ["longtask"] });
  const gaps = [], start = performance.now();
  let sent = 0, last = start;
  const step = () => {
    const now = performance.now();
    gaps.push(now - last);
    last = now;
    if (sent < lines && piece === 0) {
      sent++;
      requestAnimationFrame(step);
    } else if (sent < lines) {
      const offset = sent++ * piece;
      kernel.record.events.push({ type: "file_delta", run_id: "r", variant: 0, at: (now - start) / 1000,
        call_id: "c", path: "index.html", offset, text, seq: kernel.record.events.length + 1 });
      kernel.sent++;
      kernel.batch(kernel.sent, kernel.sent);
      requestAnimationFrame(step);
    } else setTimeout(() => {
      observer.disconnect();
      resolve({ updates: sent, seconds: (last - start) / 1000, tasks, gap: Math.max(...gaps.slice(2)) });
    }, 200);
  };
  requestAnimationFrame(step);
})
"""


@contextlib.contextmanager
def open_stage() -> Iterator[tuple[Any, DevServer]]:
    from playwright.sync_api import sync_playwright

    server = DevServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser, server
        browser.close()
    server.shutdown()
    server.server_close()


def begin(browser: Any, server: DevServer) -> Stage:
    """A run whose first file is about to come."""
    stage = Stage(browser.new_context().new_page(), server)
    started = event("run_started", prompt="A page.", model="demo:", base=None, settings={})
    call = event("tool_started", call_id="c", name="create_file", title="create")
    stage.play([started, event("turn_started", step=1), call])
    stage.page.wait_for_timeout(400)
    return stage


def renderer_seconds(browser: Any) -> float:
    """CPU of the page and of the preview's frame, which may have a process of its own."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return sum(float(process["cpuTime"]) for process in processes if process["type"] == "renderer")


def stream_page(browser: Any, server: DevServer, size: int, piece: int) -> float:
    """Streams a file of so many KB, prints how it went, gives the CPU seconds."""
    stage = begin(browser, server)
    before = renderer_seconds(browser)
    facts = stage.page.evaluate(STREAM, [size, piece])
    cost = renderer_seconds(browser) - before
    rate, task = facts["updates"] / facts["seconds"], max(facts["tasks"], default=0)
    label = f"{size} KB" if piece else "doing nothing"
    print(f"  {label:<18}{rate:>10.1f}{task:>12.0f} ms{facts['gap']:>11.0f} ms{cost:>16.2f} s")
    FIGURES[label] = {
        "updates_per_second": round(rate, 1),
        "longest_task_ms": round(task),
        "cpu_seconds": cost,
    }
    stage.page.context.close()
    return cost


def measure_page() -> None:
    with open_stage() as (browser, server):
        print(f"\nOn the page: a file at 60 updates a second (load of the machine: {os.getloadavg()[0]:.1f})")
        print(f"  {'':<18}{'updates/s':>10}{'longest task':>15}{'longest gap':>14}{'CPU':>18}")
        stream_page(browser, server, SIZES[-2], 0)
        costs = [stream_page(browser, server, size, PIECE) for size in SIZES]
        print("  limits: at least 55/s, no task over 50 ms")
        row("growth exponent of the CPU", f"{exponent(SIZES, costs):.2f}", "at most 1.03")
        paints = [first_paint(browser, server) for _ in range(FIRST_PAINTS)]
        row("first delta to first paint, median (ms)", f"{statistics.median(paints):.0f}")
        row("first delta to first paint, p95 (ms)", f"{percentile(paints, 95):.0f}", "under 100")


def first_paint(browser: Any, server: DevServer) -> float:
    """Milliseconds from the first piece of a page to the first time the preview paints some of it."""
    stage = begin(browser, server)
    delta = event(
        "file_delta", call_id="c", path="index.html", offset=0, text="<!doctype html><h1>Bread</h1><p>a"
    )
    sent = stage.page.evaluate("() => performance.timeOrigin + performance.now()")
    stage.more(delta)
    stage.preview.locator("h1").wait_for()
    painted = stage.preview.locator("h1").evaluate(
        """() => new Promise(resolve => new PerformanceObserver(list => {
            const entry = list.getEntriesByName("first-contentful-paint")[0];
            if (entry) resolve(performance.timeOrigin + entry.startTime);
        }).observe({ type: "paint", buffered: true }))"""
    )
    stage.page.context.close()
    return float(painted - sent)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kernel", action="store_true", help="only the kernel's side")
    options.add_argument("--page", action="store_true", help="only the page's side")
    chosen = options.parse_args()
    if not chosen.page:
        measure_kernel()
    if not chosen.kernel:
        if CHROMIUM and BUNDLE.exists():
            measure_page()
        else:
            print("\nThe page needs Chromium and the built bundle: `make chromium build`.")
    write_figures("widget", FIGURES)


if __name__ == "__main__":
    main()
