"""`python -m docs.scripts.record_pottery` writes the cassettes of lesson 02; with `--images` also its screenshots.

No vendor is asked: the real SDKs talk to the loopback server. The pages are those in `pages/pottery`; words and token
counts are made up, and the lesson says so. Only what they cost is calculated from the price tables.
"""

# ruff: noqa: E501 - words are written as they are sent

import asyncio
import sys
from dataclasses import dataclass, replace
from typing import Any

from agent_nb import Agent, Run
from docs.scripts.execute_notebooks import FOLDER
from tests.support import ROOT
from tests.support.wire import Call, Pause, Say, Think, Tokens, WireServer, reply
from tests.support.wire.cases import case_of

PAGES = ROOT / "tests" / "support" / "pages" / "pottery"
IMAGES = FOLDER / "images"
SIZE = {"width": 1040, "height": 640}
COLOURS = 24
"""Few, because every cassette has the images of its prompt."""
PACE: dict[str, Any] = {"fragment": 16, "gap": 0.03}
"""Characters of a delta and seconds between two: fast for a model, slow enough to follow."""
GREEN = [
    {"old": ".button { display: inline-block; margin-top: 12px; padding: 13px 24px; border-radius: 8px; color: #fff; background: #b4542d;",
     "new": ".button { display: inline-block; margin-top: 12px; padding: 13px 24px; border-radius: 8px; color: #fff; background: #3f7d4e;"},
    {"old": '<article class="course"><h2>Raku night</h2><p>Fire, smoke and surprise.</p><p>60 euros</p></article>\n', "new": ""},
    {"old": "repeat(3, 1fr)", "new": "repeat(2, 1fr)"},
]  # fmt: skip


@dataclass(frozen=True)
class Recording:
    """One run: where it is kept, what is asked, and what the model is made to do."""

    cassette: str
    vendor: str
    prompt: str
    thinking: str
    call: Call
    summary: str
    tokens: tuple[Tokens, Tokens]
    images: tuple[str, ...] = ()
    stack: str = ""
    system: str = ""


def page(name: str) -> dict[str, str]:
    return {"path": "index.html", "content": (PAGES / f"{name}.html").read_text(encoding="utf-8")}


RECORDINGS = (
    Recording(
        "shop",
        "anthropic",
        "Build this page.",
        "A bar with the name and three links, a heading with a button beside a drawing of three pots, then three cards with prices. Paper and clay colours, a serif for headings. The pots are simple shapes: inline SVG.",
        Call("create_file", page("shop"), id="call_shop_1"),
        "The page is in `index.html`: the bar, the heading with its drawing in SVG, and three courses. The links lead nowhere yet, and I chose the text alternative of the drawing.",
        (Tokens(input=2940, cached_write=1874, output=1382, reasoning=74), Tokens(input=4391, cached_read=1874, cached_write=1450, output=52)),
        images=("shot.png",),
    ),
    Recording(
        "shop-2",
        "anthropic",
        "Change what I have marked.",
        "Two remarks: the button is circled, beside it stands “green”; the third card is crossed out. With two cards left, two columns. Nothing else.",
        Call("edit_file", {"path": "index.html", "edits": GREEN}, id="call_shop_2"),
        "Three small changes: the button is green, the card “Raku night” is gone, and the two others share the row.",
        (Tokens(input=6120, cached_read=4340, cached_write=1720, output=402, reasoning=61), Tokens(input=6588, cached_read=6060, cached_write=480, output=34)),
        images=("marked.png",),
    ),
    Recording(
        "glazes",
        "openai",
        "A table of our glazes, with a slider for the highest temperature of the kiln:\nHoney, glossy, 1060; Celadon, glossy, 1260; Chalk, matt, 1180; Iron red, satin, 1240.",
        "A list that a slider filters: state and a computed list, so Vue earns its place. House style: paper, ink, one accent on the slider.",
        Call("create_file", page("glazes"), id="call_glazes_1"),
        "`index.html` shows your four glazes; the slider hides those that need more heat. It loads Vue from a CDN.",
        (Tokens(input=2210, output=902, reasoning=192), Tokens(input=3140, cached_read=2048, output=36)),
        stack="vue",
        system="workshop",
    ),
)  # fmt: skip


def draw() -> None:
    """The screenshot, and the same with a red pen on it."""
    import PIL.Image
    from PIL import ImageDraw, ImageFont
    from playwright.sync_api import sync_playwright

    from tests.support.widget_stage import CHROMIUM, FLAGS

    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        shown: Any = browser.new_page(viewport=SIZE)
        shown.set_content(page("shop")["content"])
        shown.screenshot(path=IMAGES / "shot.png")
        button, card = (shown.locator(where).bounding_box() for where in (".button", ".course >> nth=2"))
        browser.close()
    image = PIL.Image.open(IMAGES / "shot.png").convert("RGB")
    image.quantize(COLOURS, dither=0).convert("RGB").save(IMAGES / "shot.png", optimize=True)
    pen, red = ImageDraw.Draw(image), "#d3122a"
    left, top = button["x"], button["y"]
    right, bottom = left + button["width"], top + button["height"]
    pen.ellipse([left - 14, top - 12, right + 14, bottom + 12], outline=red, width=4)
    pen.text((right + 28, top + 2), "green", red, ImageFont.load_default(30))
    box = [card["x"] + 6, card["y"] + 6, card["x"] + card["width"] - 6, card["y"] + card["height"] - 6]
    pen.line(box, red, 4)
    pen.line([box[0], box[3], box[2], box[1]], red, 4)
    image.quantize(COLOURS, dither=0).convert("RGB").save(IMAGES / "marked.png", optimize=True)


async def record(server: WireServer, recording: Recording, base: Run | None) -> Run:
    first, last = recording.tokens
    server.plan(
        reply(Say("Ready.")),
        reply(Pause(0.8), Think(recording.thinking), Pause(0.6), recording.call, first, **PACE),
        reply(Pause(0.6), Say(recording.summary), last, **PACE),
    )
    system = (FOLDER / "design" / f"{recording.system}.md").read_text().strip() if recording.system else None
    async with Agent(case_of(recording.vendor).provider(server), system=system) as agent:
        await agent.run("Are you there?")  # so that the time it takes to load the SDK is not recorded
        chosen = agent.with_stack(recording.stack) if recording.stack else agent
        target = FOLDER / "cassettes" / f"{recording.cassette}.run.jsonl"
        images = [IMAGES / name for name in recording.images]
        run = await chosen.recording(target).run(recording.prompt, base=base, images=images)
    run.raise_for_failure()
    print(f"{recording.cassette}: {run.model}, {run.usage}, ${run.cost:.4f}, {run.seconds:.1f} s")
    return run


async def main() -> None:
    run: Run | None = None
    async with (
        WireServer() as server
    ):  # one for all: a server accepts only the signatures of its own thinking
        for recording in RECORDINGS:
            goes_on = recording.cassette.startswith("shop-")
            run = replace(await record(server, recording, run if goes_on else None), name="shop")


if __name__ == "__main__":
    if "--images" in sys.argv:
        draw()
    asyncio.run(main())
