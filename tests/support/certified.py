"""Runs with certificates: a script whose code is executed in this process, and files that a forger has mended."""

from collections.abc import Callable
from html import unescape
from typing import Any

from agent_nb import Agent, Run, kernel_tools
from agent_nb._base.text import sha256
from agent_nb._base.wire import Json, from_wire, parse_json
from agent_nb.features.certificate.certificate import Certificate, json_text
from agent_nb.features.certificate.forms import html_form
from agent_nb.providers.scripted import ScriptedProvider, call, text

TABLE = (
    "import pandas as pd\nscale = 2.5\ndef scaled(x):\n    return x * scale\n"
    "sales = pd.DataFrame({'region': list('abab') * 3, 'sold': [1.25, 2.5, 3.75, 4.125] * 3})"
)
CODES = (
    "means = sales.groupby('region')['sold'].mean()\nprint(means)",
    "print('total', scaled(sales['sold'].sum()), 'of', 4711 * len(sales))",
)
ANSWER = "A sold **2.50** and b 3.3125 on average, 87.2 in all of 56,532. I think 77.7 is next, as in 1999."


def computed(shell: Any, *codes: str, answer: str = ANSWER, prompt: str = "Compute", **options: Any) -> Run:
    """The run of a model that executes these codes in the shell, and answers."""
    turns = [[call("run_python", {"code": code}, id=f"c{number}")] for number, code in enumerate(codes)]
    agent = Agent(ScriptedProvider([*turns, [text(answer)]]), tools=kernel_tools(), approve="auto", **options)
    run = agent.run_sync(prompt)
    assert run.reason == "end_turn", run.error
    shell.names["ran"] = run
    return run


def facts_in(html: str) -> Json:
    wire: Json = parse_json(unescape(html.partition('<pre id="certificate">')[2].partition("</pre>")[0]))
    del wire["digest"]
    return wire


def mended(html: str, change: Callable[[Json], object]) -> str:
    """The file as somebody writes it who knows how it is made: facts, text and digest fit together."""
    wire = facts_in(html)
    before = sha256(json_text(wire))
    change(wire)
    assert sha256(json_text(wire)) != before, "nothing was forged"
    made: Certificate = from_wire(Certificate, wire)
    return html_form(made)
