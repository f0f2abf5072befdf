"""`python -m docs.scripts.record_variants` writes the runs with several variants that the dev page and the tests play.

The offline model makes the pages; models, prices and paces of the run of three are made up, so that there is
something to tell apart.
"""

import asyncio
import json
from typing import Any

from agent_nb import Agent
from agent_nb._base.wire import to_wire
from agent_nb.core.events import Event
from agent_nb.core.run_settings import MOST_VARIANTS
from agent_nb.demo import DemoProvider
from agent_nb.run.protocol import Encoder, Meta
from tests.support.demo_kit import BAKERY
from tests.support.widget_stage import RUNS

MODELS = ("anthropic:claude-opus-5-5", "openai:gpt-5.2", "gemini:gemini-3-pro")
BUDGET = 0.5
SLICE = 0.1
"""Seconds of pieces that become one, as in the messages to the page."""
SLOWER = 0.12
"""How much longer each variant takes than the one before."""


def wire(events: list[Event], variant: int, model: str) -> list[dict[str, Any]]:
    """One variant's events as the page gets them, at a pace and a price of its own."""
    encoder, made = Encoder(), []
    slices: dict[int, list[Event]] = {}
    for event in events:
        slices.setdefault(int(event.at / SLICE), []).append(event)
    for group in slices.values():
        made += encoder.encode(group)
    for item in made:
        item |= {"variant": variant, "at": round(item["at"] * (1 + SLOWER * variant), 3)}
        if item["type"] == "run_started" and model:
            item["model"] = model
            item["settings"]["usd"] = BUDGET
        if item["type"] == "run_finished":
            item["seconds"] = item["at"]
        if model and "cost" in item:
            usage = item["usage"]
            item["cost"] = round((usage["input"] * 3 + usage["output"] * 15) * (variant + 1) / 1e6, 5)
    return made


async def record(count: int, models: tuple[str, ...] = ()) -> dict[str, Any]:
    variants_handle = Agent(DemoProvider(pace=0)).start_variants(BAKERY, variants=count)
    await variants_handle
    variants = [
        [event for event in variants_handle.events if event.variant == number] for number in range(count)
    ]
    names = models or ("",) * count
    events = [item for number, own in enumerate(variants) for item in wire(own, number, names[number])]
    events.sort(key=lambda item: item["at"])
    meta = Meta(key="hero-dev", name="hero", model=models[0] if models else "demo:", demo=not models)
    line = f"`hero` is variant 1 of {count}, `files` are its files"
    ready = {"line": line, "files_name": "files", "variant": 0, "picked": False}
    return {"meta": to_wire(meta), "ready": ready, "events": events}


async def main() -> None:
    for name, count, models in (("three", len(MODELS), MODELS), ("eight", MOST_VARIANTS, ())):
        text = json.dumps(await record(count, models), ensure_ascii=False, separators=(",", ":"))
        (RUNS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
