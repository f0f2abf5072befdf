"""Numbers in the answer of a run with code: links to the output that has them, and marks where there is none."""

from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import expect

from agent_nb import Agent, Run, tool
from agent_nb._base.threads import run_blocking
from agent_nb._base.wire import to_wire
from agent_nb.features.numbers.run import NOT_COMPUTED
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render.shown import shown_features
from agent_nb.run.protocol import Encoder, Ready
from agent_nb.run.record import all_events
from agent_nb.tools.base import ToolOutput
from tests.support.widget_stage import Stage, findings, press_how

ANSWER = """\
# 47.1 😀 of 99.5

In `47.1` **53.25**% fell by –61.5 ([see 47.1](https://a.example/)), with $x = 71.5$ and:\\
12.75

1. 47.1

| a | b |
|---|---|
| 47.1 | 81.5 |

```python
x = 47.1  # 53.25
```

At last 91.25 & 47.1.
"""


def data_run() -> Run:
    """A run that has printed two of the numbers, each in a call of its own."""
    printed = iter(["47.1\n" + "\n" * 60, "0.53251 -61.52\n" + "\n" * 60])

    @tool
    def run_code(code: str) -> ToolOutput:
        plain = next(printed)
        return ToolOutput(text=plain, outputs=({"text/plain": plain},))

    turns = [[call("run_code", {"code": f"step_{number}()"})] for number in (1, 2)]
    with ScriptedProvider([*turns, [text(ANSWER)]]) as provider:
        return Agent(provider, tools=[run_code]).run_sync("What of 99.5?")


def analysts() -> Run:
    """Two variants that have computed 2.6957; the second answers 2.5."""

    @tool
    def run_code(code: str) -> ToolOutput:
        return ToolOutput(text="2.6957", outputs=({"text/plain": "2.6957"},))

    def turns(ratio: float) -> list[list[Any]]:
        said = {"ratio": ratio, "note": f"about {ratio} times", "n": 3}
        return [[call("run_code", {"code": "f()"})], [text(f"It is {ratio}."), call("final_answer", said)]]

    models = [ScriptedProvider(turns(ratio)) for ratio in (2.6957, 2.5)]
    agent = Agent(models[0], tools=[run_code], answer="ratio: float, note: str, n: int")

    async def run() -> Run:
        return await agent.start_variants("How many times?", models=models)

    return run_blocking(run())


def play(stage: Stage, run: Run) -> None:
    features = shown_features(run)
    ready = Ready(line="", variant=0, picked=False, paths=(), digest="", features=features)
    stage.play(Encoder().encode(all_events(run)), ready=to_wire(ready))


def texts(stage: Stage, selector: str) -> list[str]:
    found: list[Any] = stage.widget.locator(selector).all_inner_texts()
    return found


def test_numbers_are_marked_where_the_kernel_has_found_them(stage: Stage) -> None:
    play(stage, data_run())
    expect(stage.widget.locator(".anb-number").first).to_be_visible()
    assert texts(stage, "a.anb-number") == ["47.1", "53.25", "–61.5", "47.1", "47.1", "47.1"]
    assert texts(stage, ".anb-number.none") == ["$x = 71.5$", "12.75", "81.5", "91.25"]
    assert stage.widget.locator(".anb-say .anb-number .anb-number").count() == 0
    mark = stage.widget.locator(".anb-number.none").last
    expect(mark).to_have_attribute("title", "Not computed by any code in this run")
    expect(mark).to_have_css("text-decoration-style", "dotted")
    expect(stage.widget.locator(".anb-say > :last-child")).to_have_text(
        "Not computed: 71.5, 12.75, 81.5, 91.25"
    )


@pytest.mark.parametrize("press", ["click", pytest.param("Enter", marks=pytest.mark.wide)])
def test_a_number_leads_to_the_call_that_printed_it(stage: Stage, press: str) -> None:
    play(stage, data_run())
    first, second = (stage.widget.locator("[data-call]").nth(number) for number in (0, 1))
    press_how(stage.widget)
    first.locator("summary").first.click()
    press_how(stage.widget)
    number = stage.widget.get_by_role("link", name="47.1", exact=True).last
    number.click() if press == "click" else number.press(press)
    expect(first).to_have_class("anb-item step found")
    expect(first.locator("details").first).to_have_attribute("open", "")
    expect(first.locator("summary").first).to_be_focused()
    expect(first).to_be_in_viewport()
    stage.widget.get_by_role("link", name="53.25", exact=True).click()
    expect(second).to_have_class("anb-item step found")
    expect(first).to_have_class("anb-item step")
    assert "#" not in stage.page.url


def test_the_answer_begins_with_a_line_if_no_code_was_run(stage: Stage) -> None:
    with ScriptedProvider([[text(ANSWER)]]) as provider:
        run = Agent(provider, tools=[]).run_sync("What of 99.5?")
    run = replace(run, settings={**run.settings, "has_data": True})
    stage.play(Encoder().encode(run.events), features=shown_features(run))
    expect(stage.widget.locator(".anb-say > :first-child")).to_have_text(NOT_COMPUTED)
    assert texts(stage, ".anb-number.none")[:2] == ["47.1", "53.25"]


def test_what_nothing_computed_is_said_in_cards_fields_table_and_plot_of_every_variant(stage: Stage) -> None:
    play(stage, analysts())
    cards, answers = stage.widget.locator(".anb-variant"), stage.widget.locator(".anb-answers")
    below = "Not computed: 2.5"
    expect(cards.nth(1).locator(".anb-uncomputed")).to_have_text(below)
    assert cards.nth(0).locator(".anb-uncomputed").count() == 0
    row = ["2", "test", "2.5 (not computed)", "about 2.5 times (not computed: 2.5)", "3"]
    assert answers.locator("tr").nth(2).locator("td").all_inner_texts()[:5] == row
    expect(answers.locator("td .anb-number.none")).to_have_text(["2.5"])
    assert answers.locator("tr").nth(1).locator(".anb-uncomputed").count() == 0
    assert [dot.get_attribute("class") for dot in answers.locator("circle").all()[:2]] == ["none", ""]
    expect(answers.locator("figcaption").first).to_contain_text("; hollow: not computed")
    stage.widget.get_by_role("tab", name="Variant 2").click()
    expect(stage.widget.locator(".anb-say .anb-number.none")).to_have_text("2.5")
    field = stage.widget.locator("li .anb-typed")
    expect(field.locator("td").nth(1)).to_have_text("2.5 (not computed)")
    expect(field.locator("p")).to_have_text(below)
    assert findings(stage) == []
