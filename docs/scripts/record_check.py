"""`python -m docs.scripts.record_check` writes a cassette of lesson 06: a model looks at its page and mends it.

No vendor is asked: the real SDK talks to the loopback server. Words and token counts are made up, and the lesson says
so. What the model sees is real: headless Chromium shows the page, with its mistakes and without them.
"""

# ruff: noqa: E501 - words and pages are written as they are sent

import asyncio
import os
from typing import Any

from agent_nb import Agent
from agent_nb.pages.chromium import ChromiumViewer
from agent_nb.pages.page_check import summary_of
from docs.scripts.execute_notebooks import FOLDER
from tests.support.wire import Call, Pause, Say, Think, Tokens, WireServer, reply
from tests.support.wire.cases import CASE

PACE: dict[str, Any] = {"fragment": 12, "gap": 0.03}
"""Characters of a delta and seconds between two: fast for a model, slow enough to follow."""
CASSETTE = FOLDER / "cassettes" / "ovens.run.jsonl"
PROMPT = "A page that converts oven temperatures from Celsius to Fahrenheit, with a table of common settings."
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>How hot is the oven?</title>
<style>
body { margin: 0 auto; padding: 2.5rem 1.25rem; max-width: 36rem; font: 1.05rem/1.6 system-ui, sans-serif; color: #3b2a20; background: #fff6ec; }
h1 { margin: 0 0 1.5rem; color: #b3401b; }
label { display: block; font-weight: 600; }
input { width: 100%; accent-color: #b3401b; }
output { display: block; margin: .5rem 0 2rem; font-size: 2.2rem; font-weight: 700; }
table { width: 44rem; border-collapse: collapse; }
th, td { padding: .5rem .75rem; text-align: left; border-bottom: 1px solid #e6cdb5; }
</style>
</head>
<body>
<h1>How hot is the oven?</h1>
<label for="celsius">Celsius</label>
<input id="celsius" type="range" min="100" max="260" step="5" value="180">
<output id="result" for="celsius"></output>
<table>
<thead><tr><th scope="col">Setting</th><th scope="col">Celsius</th><th scope="col">Fahrenheit</th></tr></thead>
<tbody id="settings"></tbody>
</table>
<script>
const settings = [["Meringue", 110], ["Slow roast", 150], ["Cake", 180], ["Bread", 220], ["Pizza", 250]];
const toFahrenheit = (celsius) => Math.round(celsius * 9 / 5 + 32);
const show = () => { result.textContent = `${celsius.value} °C is ${toFahrenheit(celsius.value)} °F`; };
celsius.addEventListener("input", show);
show();
for (const [name, value] of setings) {
  const row = document.getElementById("settings").insertRow();
  for (const text of [name, `${value} °C`, `${toFahrenheit(value)} °F`]) row.insertCell().textContent = text;
}
</script>
</body>
</html>
"""
EDITS = (
    {"old": "of setings)", "new": "of settings)"},
    {"old": "table { width: 44rem;", "new": "table { width: 100%;"},
)


async def main() -> None:
    write = Call("create_file", {"path": "index.html", "content": PAGE}, id="call_write")
    edit = Call("edit_file", {"path": "index.html", "edits": [*EDITS]}, id="call_edit")
    first_look, second_look = (Call("check_preview", {}, id=f"call_look_{number}") for number in (1, 2))
    viewer = ChromiumViewer(sandbox=os.geteuid() != 0)
    async with WireServer() as server:
        server.plan(
            reply(Say("Ready.")),
            reply(Pause(0.6), Think("A slider, the result in large type, a table below. Warm colours."), write, Tokens(input=1920, output=940, reasoning=31), **PACE),
            reply(Pause(0.5), Say("The page is written. I look at it."), first_look, Tokens(input=2890, cached_read=1820, output=58), **PACE),
            reply(Pause(0.8), Think("The table is empty: `setings` on line 32 is a typing error. And the table is wider than a phone."), edit, second_look, Tokens(input=5210, cached_read=2880, output=164, reasoning=44), **PACE),
            reply(Pause(0.6), Say("The converter is in `index.html`. On my first look the table was empty and too wide for a phone; both are mended, and the second look shows no problems."), Tokens(input=7640, cached_read=5200, output=61), **PACE),
        )  # fmt: skip
        async with Agent(CASE["anthropic_messages"].provider(server)) as agent:
            await agent.run("Are you there?")  # so that the time it takes to load the SDK is not recorded
            run = await agent.with_viewer(viewer).recording(CASSETTE).run(PROMPT)
    run.raise_for_failure()
    first, second = run.checks
    assert [line.line for line in first.errors] == [32], first.errors
    assert first.overflow is not None
    assert summary_of(second) == "no problems"
    print(
        f"{run.model}: {run.seconds:.1f} s, {run.usage}, ${run.cost:.4f}; {CASSETTE.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    asyncio.run(main())
