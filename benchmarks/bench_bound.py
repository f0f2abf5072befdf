"""What a bound page costs beside a plain anywidget, in a real JupyterLab and Chromium.

    python -m benchmarks.bench_bound

From `run.page.rows = frame` to the page's callback, and from `widget.rows = rows` to that of a plain widget, which is
given the same data as a list of dicts; and the round trip of a call beside that of a custom message.
"""

import re
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import FrameLocator, Locator, Page, expect

from benchmarks.quality import write_figures
from tests.support.lab import (
    LOAD,
    open_browser,
    open_notebook,
    run_all,
    start_lab,
    wait_for_kernel,
    write_notebook,
)

ROWS = 100_000
TRIES = 5
CALLS = 200
PATIENCE = 60_000
"""Milliseconds for one value, or for all calls."""

TIMED = f"""async function timed(ask) {{
  const times = [];
  for (let n = 0; n < {CALLS}; n++) {{
    const began = performance.now();
    await ask(n);
    times.push(performance.now() - began);
  }}
  return times.sort((a, b) => a - b)[times.length >> 1];
}}"""
PAGE = f"""<!doctype html><title>Bench</title><p id="seen"></p><button>Call</button><p id="took"></p><script>
{TIMED}
const [seen, took] = ["seen", "took"].map(id => document.getElementById(id));
notebook.on("rows", rows => {{ seen.textContent = `${{rows.length}} ${{Date.now()}}`; }});
const ask = n => notebook.call("echo", {{n}});
document.querySelector("button").onclick = async () => {{ took.textContent = await timed(ask); }};
</script>"""
ESM = f"""{TIMED}
function render({{ model, el }}) {{
  el.innerHTML = '<p id="seen"></p><button>Call</button><p id="took"></p>';
  const [seen, button, took] = el.children;
  model.on("change:rows", () => {{ seen.textContent = `${{model.get("rows").length}} ${{Date.now()}}`; }});
  let answered;
  model.on("msg:custom", () => answered());
  const ask = n => new Promise(resolve => {{ answered = resolve; model.send({{ n }}); }});
  button.onclick = async () => {{ took.textContent = await timed(ask); }};
}}
export default {{ render }};"""
SETUP = f"""
import time
import anywidget, pandas as pd, traitlets
from agent_nb import Agent
from agent_nb.providers.scripted import ScriptedProvider, call, text

frame = pd.DataFrame({{"a": range({ROWS}), "b": [n / 7 for n in range({ROWS})], "c": "word", "d": True, "e": 5}})

def echo(n: int) -> int:
    return n

class Plain(anywidget.AnyWidget):
    _esm = {ESM!r}
    rows = traitlets.List().tag(sync=True)

plain, value = Plain(), frame.to_dict("records")
plain.on_msg(lambda widget, content, buffers: widget.send(content))
script = [[call("create_file", {{"path": "index.html", "content": {PAGE!r}}})], [text("Done.")]]
page = (await Agent(ScriptedProvider(script), bind={{"rows": [], "echo": echo}}).run("Bench")).page
"""
# Each value is one row shorter than the last, which tells them apart.
SET_BOUND = "frame = frame.iloc[:-1]\nbegan = time.time()\npage.rows = frame\nprint('BEGAN', began)"
SET_PLAIN = "value = value[:-1]\nbegan = time.time()\nplain.rows = value\nprint('BEGAN', began)"


def measure(page: Page, cell: int, place: "FrameLocator | Locator") -> tuple[float, float]:
    """The median of the seconds to the callback, and the milliseconds of a round trip."""
    seconds = []
    for number in range(TRIES):
        page.evaluate(
            """number => {
                window.jupyterapp.shell.currentWidget.content.activeCellIndex = number;
                window.jupyterapp.commands.execute('notebook:run-cell');
            }""",
            cell,
        )
        seen = re.compile(rf"^{ROWS - 2 - number} ")
        expect(place.locator("#seen")).to_have_text(seen, timeout=PATIENCE)
        wait_for_kernel(page)
        output = page.locator(".jp-Cell").nth(cell).locator(".jp-OutputArea-output").inner_text()
        arrived = int(place.locator("#seen").inner_text().split()[1])
        seconds.append(arrived / 1000 - float(output.split()[1]))
    place.locator("button").click()
    expect(place.locator("#took")).not_to_be_empty(timeout=PATIENCE)
    return statistics.median(seconds), float(place.locator("#took").inner_text())


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, start_lab(Path(folder)) as lab, open_browser() as browser:
        path = lab.root / "bench.ipynb"
        write_notebook(path, LOAD + SETUP, "page", "plain", SET_BOUND, SET_PLAIN)
        page = browser.new_page(viewport={"width": 1280, "height": 1600})
        open_notebook(page, lab, path.name)
        run_all(page)
        shown = page.locator(".jp-Cell").nth(1).frame_locator("iframe").frame_locator("iframe")
        expect(shown.locator("#seen")).to_contain_text(str(ROWS - 1), timeout=PATIENCE)
        plain = page.locator(".jp-Cell").nth(2)
        expect(plain.locator("#took")).to_be_attached(timeout=PATIENCE)
        seconds, call = measure(page, 3, shown)
        plain_seconds, message = measure(page, 4, plain)
    figures = {
        f"{ROWS:,} rows to the page's callback (s)": round(seconds, 2),
        "the same to a plain widget's (s)": round(plain_seconds, 2),
        "times the plain widget's": round(seconds / plain_seconds, 2),
        "round trip of a call (ms)": round(call, 1),
        "of a plain widget's message (ms)": round(message, 1),
    }
    for label, figure in figures.items():
        print(f"{label:45} {figure}")
    write_figures("bound", figures)


if __name__ == "__main__":
    main()
