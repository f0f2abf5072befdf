"""The demo model, driven by the real engine: what it builds, always the same, whatever it is asked."""

import re

import pytest

from agent_nb.core.messages import user
from agent_nb.demo import DemoProvider
from agent_nb.demo.brief import read_brief
from agent_nb.demo.templates import table
from agent_nb.providers.base import CallPiece, Piece, Request, TextPiece, ThinkingPiece, Turn, VirtualClock
from agent_nb.tools import Toolbox
from tests.support.demo_kit import BAKERY, PROMPTS, Page, agent, built, called


async def test_the_bakery_of_the_readme() -> None:
    run = await built(BAKERY)
    page = run.files["index.html"]
    assert isinstance(page, str)
    text = Page(page).text
    assert called(run) == ["create_file", "edit_file"]
    assert all(use.ok for use in run.tool_uses)
    assert "<title>Lyon Bakery</title>" in page
    assert "Opening hours" in text
    assert "<svg" in page
    assert "First loaves leave the oven at seven." in text, "the edit shows"
    assert run.text.splitlines()[-5:][0].startswith("This is the offline demo model")
    assert "offline demo model" in run.thinking


@pytest.mark.parametrize("kind", PROMPTS)
async def test_every_kind_is_a_sound_page(kind: str) -> None:
    run = await built(PROMPTS[kind])
    html = run.files["index.html"]
    assert isinstance(html, str)
    page = Page(html)
    assert html.startswith("<!doctype html>")
    assert read_brief(PROMPTS[kind]).kind == kind
    assert 6_000 < len(html.encode()) < 14_000
    assert all(address.startswith(("#", "mailto:")) for address in page.addresses), "nothing is fetched"
    assert "url(" not in html
    assert "{{" not in html
    assert html.index("</style>") < html.index("<body")
    assert 'class="notice"' in html


def request_of(prompt: str, variant: int) -> Request:
    tools, clock = Toolbox.default().specs, VirtualClock(pace=0)
    return Request(system="", messages=(user(prompt),), tools=tools, variant=variant, clock=clock)


@pytest.mark.parametrize("kind", PROMPTS)
@pytest.mark.parametrize("variant", range(3))
async def test_the_headline_is_seen_within_two_seconds(kind: str, variant: int) -> None:
    request = request_of(PROMPTS[kind], variant)
    written, fragments = "", 0
    async for piece in DemoProvider(pace=0).stream(request):
        if isinstance(piece, CallPiece):
            written, fragments = written + piece.text, fragments + 1
        if "</h1>" in written:
            break
    assert written.index("<body") < 2_100
    assert fragments < 130
    assert request.clock.now() < 2


@pytest.mark.parametrize("trade", table("trades"))
async def test_every_trade_fills_its_page(trade: str) -> None:
    html = (
        await built(
            f"A page for {trade} in Oslo with a menu, prices, a gallery, faq, reviews, team and about us"
        )
    ).html
    assert html is not None
    page = Page(html)
    assert "{{" not in html
    assert "lorem" not in html.lower()
    assert {"Gallery", "Questions", "Kind words", "People", "Contact"} <= set(
        re.findall(r"<h2>([^<]+)</h2>", html)
    )
    assert "Oslo" in page.text


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        (BAKERY, "Lyon Bakery"),
        ("Build me a website for a handmade ceramics shop", "Handmade Ceramics Shop"),
        ("bookshop landing page", "The Bookshop"),
        ('A page for a café called "Chez Nous"', "Chez Nous"),
        ("A dashboard of monthly sales for a bike shop", "Monthly sales"),
        ("A sign-up form for our newsletter", "Sign up for our newsletter"),
        ("A memory game with animals", "Memory: animals"),
        ("make tic-tac-toe", "Noughts and crosses"),
        ("A guesthouse near Chamonix", "Chamonix Guesthouse"),
    ],
)
def test_titles_come_from_the_prompt(prompt: str, name: str) -> None:
    assert read_brief(prompt).name == name


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("A landing page for a game studio", "landing"),
        ("A bakery page with a contact form", "landing"),
        ("A dashboard of blog posts", "dashboard"),
        ("Documentation for my parser", "article"),
        ("An RSVP page for a party", "form"),
        ("Something nice", "landing"),
        ("A landing page for a film festival", "landing"),
        ("A railway museum", "landing"),
        ("Pancake recipe", "article"),
        ("A pomodoro timer", "app"),
    ],
)
def test_the_kind_named_first_wins(prompt: str, kind: str) -> None:
    assert read_brief(prompt).kind == kind


async def test_a_csv_in_the_prompt_is_charted() -> None:
    run = await built("A dashboard of this:\nweek,sold,wasted\nW1,10,2\nW2,14,1\nW3,31,4\n")
    assert run.html is not None
    assert "Sold by week" in run.html
    assert "W3 stands out. Sold: 31" in run.html
    assert "Sample numbers" not in run.html


async def events_of(prompt: str, variant: int = 0) -> list[Piece]:
    return [piece async for piece in DemoProvider(pace=0).stream(request_of(prompt, variant))]


async def test_the_same_prompt_gives_the_same_pieces() -> None:
    assert await events_of(BAKERY) == await events_of(BAKERY)
    first, second = await built(BAKERY), await built(BAKERY)
    assert [event.at for event in first.events] == [event.at for event in second.events]
    assert first.usage == second.usage
    assert first.usage.output > 1_500


async def test_variants_differ_in_colour_and_layout() -> None:
    pages = [str((await events_of(PROMPTS["landing"], variant))[-1]) for variant in range(4)]
    assert len(set(pages)) == 4
    hues = [re.search(r"--h:(\d+)", page) for page in pages]
    assert len({found[1] for found in hues if found}) == 4
    assert len({re.search(r"<h1>.*?</h1>", page)[0] for page in pages[:3]}) == 3  # type: ignore[index]
    assert len({re.search(r"\.hero\{[^}]*\}", page)[0] for page in pages[:3]}) == 3  # type: ignore[index]


@pytest.mark.usefixtures("short_fragments")
async def test_pieces_are_small_and_join_to_the_turn() -> None:
    *pieces, turn = await events_of(BAKERY)
    assert isinstance(turn, Turn)
    texts = [piece for piece in pieces if isinstance(piece, TextPiece | ThinkingPiece | CallPiece)]
    assert max(len(piece.text) for piece in texts) <= 24
    arguments = "".join(piece.text for piece in texts if isinstance(piece, CallPiece))
    assert arguments == turn.message.tool_calls[0].arguments
    assert turn.model == "demo"


NONSENSE = [
    "?",
    "🦆",
    "🦆🦆 !!! ---",
    "the the the",
    "a page",
    "{{name}} {{nonsense}} %s \\1 \\g<0>",
    '"><script>alert(1)</script> <b onclick="x()">page</b>',
    "A dashboard of <script>alert(1)</script> & 'quotes' \"too\"\na<b>,c|d\nx<i>,1\ny|z,2\nz,3",
    "A form called </title><script>alert(1)</script>",
    "x" * 10_000,
    "word " * 2_000,
    "A landing page for " + "very " * 500 + "long names in " + "Llanfair" * 40,
    "١٢٣ 页面 страница",
    "\x00\x07 control\r\n\ttabs",
    "A dashboard:\nname,value\na,-5\nb,-7\nc,-1",
    "A dashboard:\nname,value\na,0\nb,0\nc,0",
]


@pytest.mark.parametrize("prompt", NONSENSE, ids=range(len(NONSENSE)))
async def test_nonsense_gives_a_sound_page(prompt: str) -> None:
    run = await agent().run(prompt)
    assert run.reason == "end_turn", run.error
    html = str(run.files["index.html"])
    page = Page(html)
    assert "<script>alert" not in html
    assert "onclick" not in page.attributes
    assert page.open == []
    title = re.search(r"<title>(.*)</title>", html)
    assert title
    assert 0 < len(title[1]) < 150
    assert len(html) < 16_000
    second = await agent().run(prompt, base=run)
    assert second.reason == "end_turn"
    Page(str(second.files["index.html"]))
