"""`python -m docs.scripts.record_train` writes the cassette of lesson 05: one prompt, three vendors at once.

No vendor is asked: the real SDKs talk to the loopback server. The pages are those in `pages/train`; words, times
and token counts are made up, and the lesson says so. Only what they cost is calculated from the price tables.
"""

# ruff: noqa: E501 - words are written as they are sent

import asyncio
from collections import Counter
from dataclasses import dataclass

from agent_nb import Agent
from docs.scripts.execute_notebooks import FOLDER
from tests.support import ROOT
from tests.support.wire import Call, Pause, Reply, Say, Think, Tokens, WireServer, reply
from tests.support.wire.cases import case_of
from tests.support.wire.server import Request

PAGES = ROOT / "tests" / "support" / "pages" / "train"
CASSETTE = FOLDER / "cassettes" / "train.run.jsonl"
PROMPT = """\
A page for the night train from Vienna to Rome. It leaves at 19:20, stops in Villach, Bologna and Florence,
and arrives at 09:05. Show the timetable, three kinds of cabin with prices, and one strong picture,
drawn with SVG or CSS. No external assets."""


@dataclass(frozen=True)
class Recording:
    """One variant: what the model is made to think, make, say and count, and how fast."""

    vendor: str
    page: str
    thinking: str
    summary: str
    tokens: tuple[Tokens, ...]
    """For each of its turns."""
    fragment: int
    gap: float
    mended: tuple[str, str] = ("", "")
    """What it writes first and edits in a turn of its own, and what that becomes."""


RECORDINGS = (
    Recording(
        "anthropic",
        "claude",
        "A night train: the strong picture is the window itself. An arched frame, moon, mountains, and at the bottom already pines and a dome. A serif, much room, wine red. The stops are a line to follow down the page, so an ordered list.",
        "The page is in `index.html`: an arched train window drawn in SVG, the stops as a line through the night, three cabins. You gave the first and the last time; the times between and the prices are made up.",
        (
            Tokens(input=1684, cached_write=1612, output=2143, reasoning=88),
            Tokens(input=3871, cached_read=1612, cached_write=2187, output=131),
            Tokens(input=4046, cached_read=3799, cached_write=175, output=61),
        ),
        fragment=20,
        gap=0.03,
        mended=(
            '<svg class="window" viewBox="0 0 400 500">',
            '<svg class="window" viewBox="0 0 400 500" role="img" aria-label="Night through a train window: the moon over mountains, pines and a dome">',
        ),
    ),
    Recording(
        "openai",
        "gpt",
        "Poster first: orange field, a huge sun cut by bars, a black train with lit windows. Heavy grotesque, tight. The timetable is tabular data, so a real table with arrivals and departures. Prices as large numerals.",
        "Created `index.html`: a poster in SVG, a timetable with arrivals and departures, and three cabins. Fares and the times between Vienna and Rome are made up; put in your own.",
        (Tokens(input=1571, output=2268, reasoning=448), Tokens(input=3842, cached_read=1536, output=57)),
        fragment=24,
        gap=0.022,
    ),
    Recording(
        "gemini",
        "gemini",
        "The sky can tell the story: night on the left, morning on the right, and the train crossing it with lit windows. Rounded type, soft cards, the stops as steps. It should move a little, but not for those who prefer reduced motion.",
        "I made the page in `index.html`. The sky goes from night to morning, and the train rides in when the page opens.",
        (Tokens(input=1629, output=2190, reasoning=302), Tokens(input=3822, output=33)),
        fragment=96,
        gap=0.09,
    ),
)  # fmt: skip


def page_of(recording: Recording) -> str:
    return (PAGES / f"{recording.page}.html").read_text(encoding="utf-8")


def turns_of(recording: Recording) -> list[Reply]:
    """The answers of one model: the page, perhaps an edit, the summary."""
    before, after = recording.mended
    page = page_of(recording).replace(after, before) if before else page_of(recording)
    calls = [Call("create_file", {"path": "index.html", "content": page}, id=f"call_{recording.vendor}_1")]
    if before:
        edit = {"path": "index.html", "old": before, "new": after}
        calls.append(Call("edit_file", edit, id=f"call_{recording.vendor}_2"))
    first, *rest = ((Pause(0.3), call, tokens) for call, tokens in zip(calls, recording.tokens, strict=False))
    steps = [
        (Pause(0.5), Think(recording.thinking), *first),
        *rest,
        (Say(recording.summary), recording.tokens[-1]),
    ]
    return [reply(*turn, fragment=recording.fragment, gap=recording.gap) for turn in steps]


async def main() -> None:
    turns = {
        case_of(recording.vendor).protocol: [reply(Say("Ready.")), *turns_of(recording)]
        for recording in RECORDINGS
    }
    asked: Counter[str] = Counter()

    def answer(request: Request) -> Reply:
        asked[request.protocol] += 1
        return turns[request.protocol][asked[request.protocol] - 1]

    async with WireServer() as server:
        server.otherwise = answer
        models = [case_of(recording.vendor).provider(server) for recording in RECORDINGS]
        for model in models:  # so that the time it takes to load the SDKs is not recorded
            await Agent(model).run("Are you there?")
        variants_handle = Agent(models[0]).recording(CASSETTE).start_variants(PROMPT, models=models)
        run = await variants_handle
        for model in models:
            await model.close()
    for recording, variant in zip(RECORDINGS, run.variants, strict=True):
        variant.raise_for_failure()
        assert variant.html == page_of(recording), f"{recording.page} is not what was to be made"
        print(f"{variant.model}: {variant.seconds:.1f} s, {variant.usage}, ${variant.cost:.4f}")
    print(variants_handle.recorded)


if __name__ == "__main__":
    asyncio.run(main())
