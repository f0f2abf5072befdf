"""Outputs of finished runs that are opened and closed on one page: no node, listener or frame may stay behind."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agent_nb._base.wire import to_wire
from benchmarks.soak.sampling import Growth, Sample, exceeded, page_counts
from tests.support.lab import open_browser
from tests.support.widget_stage import META, RUNS, DevServer

WARM_UP = 5
SLACK: Sample = {"nodes": 1, "listeners": 0.1, "documents": 0.01, "frames": 0.001}
"""What each count may have grown by at the end, per output."""

# A kernel that knows a finished run under any key. Its answers come as a real kernel's do: after the command.
START = """async (record) => {
  const { default: widget } = await import("/widget.js");
  let receive;
  widget.initialize({ model: {
    get: (name) => (name === "kernel" ? "soak" : ""),
    on: (_name, callback) => { receive = callback; },
    off: () => {},
    send: ({ id, command, key }) => queueMicrotask(() => {
      const meta = { ...record.meta, key }, run_id = `run of ${key}`;
      receive({ kind: "answer", id, ok: true, run_id, meta, last: record.events.length });
      if (command !== "hello") return;
      const events = structuredClone(record.events);
      receive({ kind: "batch", run_id, first: 1, last: events.length, events, meta });
      receive({ kind: "ready", run_id, ...record.ready });
    }),
  } });
}"""
OPEN_AND_CLOSE = """async ([first, count]) => {
  const cell = document.querySelector("#cell");
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (let number = first; number < first + count; number++) {
    cell.innerHTML = `<div data-anb-run="key-${number}"><p>A finished run.</p></div>`;
    for (let frames = 0; !cell.firstChild.shadowRoot?.querySelector(".anb-page iframe"); frames++) {
      if (frames > 5000) throw new Error(`output ${number} was not drawn`);
      await frame();
    }
    cell.replaceChildren();
    await frame();
  }
}"""


@contextmanager
def _served() -> Iterator[DevServer]:
    server = DevServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def open_and_close(outputs: int) -> tuple[dict[str, Any], list[str]]:
    """Counts before and after, and the bounds that were exceeded."""
    with _served() as server, open_browser(scrollbars=True) as browser:
        start, end = counts_around(browser.new_context().new_page(), server, outputs)
    grown = Growth.between(start, end, outputs, "output")
    title = f"{outputs} outputs opened and closed"
    return {title: {**grown.figures(), "bounds": {"growth_per_output": SLACK}}}, exceeded(grown.rates, SLACK)


def counts_around(page: Any, server: DevServer, outputs: int) -> tuple[Sample, Sample]:
    """What the page holds after a few outputs, and after so many more."""
    record = json.loads((RUNS / "hero.json").read_text(encoding="utf-8"))
    record["meta"] = {**to_wire(META), **record["meta"]}
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    page.goto(f"{server.address}/?record&speed=0")
    page.evaluate(START, record)
    page.evaluate(OPEN_AND_CLOSE, [0, WARM_UP])
    start = _settled(page, session)
    page.evaluate(OPEN_AND_CLOSE, [WARM_UP, outputs])
    return start, _settled(page, session)


def _settled(page: Any, session: Any) -> Sample:
    """The counts once they stop falling: the last frame is torn down after its element is gone."""
    counts = page_counts(session)
    for _ in range(100):
        if (later := page_counts(session))["nodes"] >= counts["nodes"]:
            break
        counts = later
    return {**later, "frames": len(page.frames)}
