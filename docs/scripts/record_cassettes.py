"""`python -m docs.scripts.record_cassettes` writes the cassettes that lesson 07 plays.

No vendor is asked: the real SDKs talk to the loopback server, which plays the turns below. Words, pages and
token counts are made up; the lesson says so. Only what they cost is calculated from the price tables.
"""

# ruff: noqa: E501 - words and pages are written as they are sent

import asyncio
from dataclasses import dataclass
from typing import Any

from agent_nb import Agent
from docs.scripts.execute_notebooks import FOLDER
from tests.support.wire import Call, Pause, Say, Think, Tokens, WireServer, reply
from tests.support.wire.cases import case_of

PACE: dict[str, Any] = {"fragment": 12, "gap": 0.03}
"""Characters of a delta and seconds between two: fast for a model, slow enough to follow."""
PROMPT = "A one-page menu for a tea house in Kyoto: five teas with prices, quiet colours."
TEAS = (
    ("Sencha", "Fresh, a little grass, a little sea", 700),
    ("Gyokuro", "Shaded for three weeks, sweet and deep", 1200),
    ("Matcha", "Whisked at your table", 900),
    ("Genmaicha", "With roasted rice", 600),
    ("Hojicha", "Roasted, mild, for the evening", 600),
)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>
:root {{ color-scheme: light dark; --ink: light-dark({ink}, #f2efe8); --paper: light-dark({paper}, #1c1d1a); }}
body {{ margin: 0 auto; padding: 12vh 1.5rem; max-width: 34rem; font: 1.05rem/1.6 {font}; color: var(--ink); background: var(--paper); }}
h1 {{ margin: 0; font-weight: 400; letter-spacing: .08em; }}
dl {{ display: grid; grid-template-columns: 1fr auto; gap: .2rem 2rem; margin: 3rem 0; }}
dt {{ font-weight: 600; }}
dd {{ margin: 0; }}
dd.note {{ grid-column: 1 / -1; margin-bottom: 1rem; opacity: .75; }}
</style>
</head>
<body>
<h1>{name}</h1>
<p>{line}</p>
<dl>
{teas}
</dl>
<p>Open from ten to six, closed on Wednesdays.</p>
</body>
</html>
"""


@dataclass(frozen=True)
class Recording:
    """One run: what the model is made to think, make, say and count."""

    name: str
    vendor: str
    thinking: str
    page: dict[str, str]
    summary: str
    first: Tokens
    second: Tokens


RECORDINGS = (
    Recording(
        "by_claude",
        "anthropic",
        "A menu, five teas. Quiet: one typeface, much room, moss and paper. Prices in yen, aligned on the right.",
        {"name": "Shizuka", "line": "Five teas, one garden.", "ink": "#3d4a3a", "paper": "#f7f4ec", "font": "Georgia, serif"},
        "The menu is in `index.html`: five teas with prices in yen, moss green on paper. You may want your own hours.",
        Tokens(input=1612, cached_write=1540, output=538, reasoning=46),
        Tokens(input=2214, cached_read=1540, cached_write=610, output=38),
    ),
    Recording(
        "by_gpt",
        "openai",
        "One page, semantic list of teas, calm palette. A definition list keeps name, price and note together.",
        {"name": "Kamo Tea", "line": "By the river, since this spring.", "ink": "#2f3e46", "paper": "#f3f5f2", "font": "system-ui, sans-serif"},
        "Created `index.html` with five teas, their notes and prices. Change the opening hours at the bottom if needed.",
        Tokens(input=1498, output=702, reasoning=256),
        Tokens(input=2006, cached_read=1408, output=34),
    ),
    Recording(
        "by_gemini",
        "gemini",
        "A quiet menu: soft stone and ink, a list with prices at the right edge, readable on a phone.",
        {"name": "Ishi no Cha", "line": "Tea, and the sound of water.", "ink": "#3a3733", "paper": "#efece6", "font": "Palatino, serif"},
        "I made a one-page menu in `index.html`. The five teas and prices are samples.",
        Tokens(input=1557, output=655, reasoning=188),
        Tokens(input=2231, output=27),
    ),
)  # fmt: skip


def page_of(recording: Recording) -> str:
    rows = [f'<dt>{tea}</dt><dd>¥{yen}</dd>\n<dd class="note">{note}</dd>' for tea, note, yen in TEAS]
    return PAGE.format(teas="\n".join(rows), **recording.page)


async def record(recording: Recording) -> None:
    call = Call(
        "create_file", {"path": "index.html", "content": page_of(recording)}, id=f"call_{recording.vendor}"
    )
    async with WireServer() as server:
        server.plan(
            reply(Say("Ready.")),
            reply(Pause(0.8), Think(recording.thinking), Pause(0.6), call, recording.first, **PACE),
            reply(Pause(0.6), Say(recording.summary), recording.second, **PACE),
        )
        async with Agent(case_of(recording.vendor).provider(server)) as agent:
            await agent.run("Are you there?")  # so that the time it takes to load the SDK is not recorded
            target = FOLDER / "cassettes" / f"{recording.name}.run.jsonl"
            run = await agent.recording(target).run(PROMPT)
    run.raise_for_failure()
    print(f"{recording.name}: {run.model}, {run.usage}, ${run.cost:.4f}")


async def main() -> None:
    for recording in RECORDINGS:
        await record(recording)


if __name__ == "__main__":
    asyncio.run(main())
