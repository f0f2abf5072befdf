"""`python -m docs.scripts.record_debug` writes the cassettes of lesson 10: runs that go wrong.

No vendor is asked: the real SDK talks to the loopback server. Words, pages and token counts are made up, and the
lesson says so. The tools really run, so the answers to the edits that do not match are real.
"""

# ruff: noqa: E501 - words are written as they are sent

import asyncio
from dataclasses import dataclass
from typing import Any

from agent_nb import Agent, Limits, Run
from docs.scripts.execute_notebooks import FOLDER
from tests.support import ROOT
from tests.support.wire import Call, Pause, Reply, Say, Think, Tokens, WireServer, reply
from tests.support.wire.cases import CASE

PAGES = ROOT / "tests" / "support" / "pages" / "debug"
PACE: dict[str, Any] = {"fragment": 14, "gap": 0.02}
"""Characters of a delta and seconds between two: fast for a model, slow enough to follow."""
BUDGET = 0.015

ORDER = "A page that adds up an order at the market: kilograms of potatoes, onions and apples, with a total that follows the amounts."
MEND = "The total stays empty. Mend it."
POSTER = "A poster for the winter market on Saturday 12 December, 9 to 17: apples, cider, honey, wool, candles, soup at noon. With the programme of the day and one drawing, in SVG."

_WRONG = '{indent}document.querySelector("#total").textContent = `Total: €${{totl.toFixed(2)}}`;'
_RIGHT = '{indent}document.querySelector("#total").textContent = `Total: €${{total.toFixed(2)}}`;'


@dataclass(frozen=True)
class Recording:
    cassette: str
    prompt: str
    turns: list[Reply]


def page(name: str) -> dict[str, str]:
    return {"path": "index.html", "content": (PAGES / f"{name}.html").read_text(encoding="utf-8")}


def edit(number: int, indent: str) -> Call:
    """An edit that is indented with spaces, where the page has a tab: it does not match."""
    old, new = (f"for (const input of inputs) total += input.value * input.dataset.price;\n{line.format(indent=indent)}" for line in (_WRONG, _RIGHT))  # fmt: skip
    return Call(
        "edit_file",
        {"path": "index.html", "old": indent + old, "new": indent + new},
        id=f"call_order_{number}",
    )


def order() -> list[Reply]:
    return [
        reply(Pause(0.6), Think("Three inputs with a price each, and one output. Plain JavaScript is enough."), Call("create_file", page("order"), id="call_order_1"), Tokens(input=1702, cached_write=1640, output=742, reasoning=24), **PACE),
        reply(Pause(0.5), Say("The page is in `index.html`. The total is updated whenever an amount changes."), Tokens(input=2480, cached_read=1640, cached_write=770, output=24), **PACE),
    ]  # fmt: skip


def mend() -> list[Reply]:
    return [
        reply(Pause(0.5), Think("A typing error: `totl` should be `total`. I replace the line."), edit(2, "  "), Tokens(input=2562, cached_read=2410, output=128, reasoning=19), **PACE),
        reply(Pause(0.4), Say("The text was not found. Perhaps the indentation is four spaces.\n"), edit(3, "    "), Tokens(input=2894, cached_read=2560, output=136), **PACE),
        reply(Pause(0.4), Say("Once more, with eight.\n"), edit(4, "        "), Tokens(input=3231, cached_read=2890, output=131), **PACE),
        reply(Pause(0.4), Say("Done: the typing error in `update` is corrected, and the total now shows."), Tokens(input=3560, cached_read=3230, output=26), **PACE),
    ]  # fmt: skip


def poster() -> list[Reply]:
    return [
        reply(Pause(0.6), Think("A night sky, a stall with a striped roof, the date in gold."), Call("create_file", page("poster"), id="call_poster_1"), Tokens(input=1690, cached_write=1630, output=1240, reasoning=20), **PACE),
        reply(Pause(0.5), Say("The poster is in `index.html`."), Tokens(input=2990, cached_read=1630, cached_write=1290, output=14), **PACE),
    ]  # fmt: skip


async def record(agent: Agent, server: WireServer, recording: Recording, base: Run | None = None) -> Run:
    server.plan(*recording.turns)
    target = FOLDER / "cassettes" / f"{recording.cassette}.run.jsonl"
    run = await agent.recording(target).run(recording.prompt, base=base)
    print(f"{recording.cassette}: {run.reason}, {run.usage}, ${run.cost:.4f}, {run.seconds:.1f} s")
    return run


async def main() -> None:
    async with WireServer() as server:
        server.plan(reply(Say("Ready.")))
        async with Agent(CASE["anthropic_messages"].provider(server)) as agent:
            await agent.run("Are you there?")  # so that the time it takes to load the SDK is not recorded
            first = await record(agent, server, Recording("order", ORDER, order()))
            second = await record(agent, server, Recording("repair", MEND, mend()), first)
            short = Agent(agent.model, limits=Limits(usd=BUDGET))
            cut = await record(short, server, Recording("poster", POSTER, poster()))
    assert not any(use.ok for use in second.tool_uses)
    assert cut.reason == "budget"


if __name__ == "__main__":
    asyncio.run(main())
