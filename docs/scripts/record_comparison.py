"""`python -m docs.scripts.record_comparison` writes the cassettes of lesson 11: one image, three models, three times each.

No vendor is asked: the real SDKs talk to the loopback server. The pages are the one on the image with some changes;
words and token counts are made up, and the lesson says so. The costs are calculated from the price tables, and the
closeness is measured with headless Chromium.
"""

# ruff: noqa: E501 - words are written as they are sent

import asyncio
import io
import os
from dataclasses import dataclass, replace

from agent_nb import Agent
from agent_nb.core.messages import Image
from agent_nb.pages import closeness
from agent_nb.pages.chromium import ChromiumViewer
from agent_nb.pages.page_check import CheckRequest, PageCheck, Screenshot
from docs.scripts.execute_notebooks import FOLDER
from tests.support import ROOT
from tests.support.wire import Call, Reply, Say, Tokens, WireServer, reply
from tests.support.wire.cases import case_of

PAGE = (ROOT / "tests" / "support" / "pages" / "pottery" / "shop.html").read_text(encoding="utf-8")
TARGET = FOLDER / "cassettes" / "pottery"
PROMPT = "Build this page."
WIDTH = 200
"""Pixels of the saved screenshots: the lesson does not need more, and the files stay small."""

_NO_DRAWING = [('<path d="M70', '<path opacity="0" d="M70'), ('<path d="M288', '<path opacity="0" d="M288')]
_TALL = [("padding: 52px 48px", "padding: 110px 48px")]
_COLD = [("#b4542d", "#2d6fb4"), ("#f6efe6", "#eef2f6")]
_LARGE = [("700 46px/1.1", "700 64px/1.1")]
_TWO_COLUMNS = [("repeat(3, 1fr)", "repeat(2, 1fr)")]


@dataclass(frozen=True)
class Recording:
    """One model: how each of its pages differs from the image, and how many tokens it takes to write one."""

    vendor: str
    pages: tuple[list[tuple[str, str]], ...]
    output: int
    tokens_in: tuple[int, int, int]


RECORDINGS = (
    Recording("anthropic", ([("20px 48px", "24px 48px")], _LARGE, [*_TALL, *_LARGE]), 1402, (2940, 4410, 6350)),
    Recording("openai", (_NO_DRAWING, [("gap: 22px", "gap: 40px"), *_LARGE], _COLD), 1244, (2610, 3960, 5700)),
    Recording("gemini", (_TALL, [("gap: 40px", "gap: 90px")], [*_TWO_COLUMNS, *_LARGE]), 1180, (2480, 3740, 5410)),
)  # fmt: skip


def page_of(changes: list[tuple[str, str]]) -> str:
    page = PAGE
    for old, new in changes:
        assert old in page, old
        page = page.replace(old, new)
    return page


def turns_of(recording: Recording) -> list[Reply]:
    turns: list[Reply] = []
    for number, changes in enumerate(recording.pages, 1):
        name = f"{recording.vendor}_{number}"
        written = recording.output + 37 * number
        create = Call("create_file", {"path": "index.html", "content": page_of(changes)}, id=f"call_{name}_1")
        first, second, third = recording.tokens_in
        turns += [
            reply(create, Tokens(input=first, output=written), fragment=400),
            reply(Call("check_preview", {}, id=f"call_{name}_2"), Tokens(input=second, output=31)),
            reply(Say("The page is in `index.html`."), Tokens(input=third, output=15)),
        ]
    return turns


class SmallViewer:
    """Headless Chromium, with smaller screenshots."""

    def __init__(self) -> None:
        self._viewer = ChromiumViewer(sandbox=os.geteuid() != 0)  # the pages are our own

    async def check(self, request: CheckRequest) -> PageCheck:
        check = await self._viewer.check(request)
        return replace(check, screenshots=tuple(map(_small, check.screenshots)))


def _small(shot: Screenshot) -> Screenshot:
    import PIL.Image

    with PIL.Image.open(io.BytesIO(shot.image.data)) as opened:
        image = opened.convert("RGB").resize((WIDTH, round(opened.height * WIDTH / opened.width)))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=40, optimize=True)
    return replace(shot, image=Image(buffer.getvalue(), "image/jpeg"), thumbnail=b"")


async def main() -> None:
    closeness._SHOWN = 240, 600  # so that the cassettes stay small: nobody looks at the image of the pair
    os.chdir(FOLDER)  # so that the image has the name that it has in the lesson
    async with WireServer() as server:
        for recording in RECORDINGS:
            server.plan(reply(Say("Ready.")), *turns_of(recording))
            async with Agent(case_of(recording.vendor).provider(server)).with_viewer(SmallViewer()) as agent:
                await agent.run("Are you there?")  # so that the time it takes to load the SDK is not recorded
                for number in range(1, len(recording.pages) + 1):
                    target = TARGET / f"{recording.vendor}-{number}.run.jsonl"
                    run = await agent.recording(target).run(PROMPT, images=["images/shot.png"])
                    run.raise_for_failure()
                    row = run.compare().rows()[0]
                    print(
                        f"{target.stem}: {row['closeness']}, ${run.cost:.4f}, {target.stat().st_size:,} bytes"
                    )


if __name__ == "__main__":
    asyncio.run(main())
