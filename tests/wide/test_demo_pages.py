"""The demo pages in a real browser: they fit a phone, run without errors, fetch nothing, can be read and played."""

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from agent_nb.demo.brief import read_brief
from agent_nb.demo.page import build_page, improvement
from agent_nb.demo.style import choose_style
from tests.support.demo_kit import PROMPTS
from tests.support.widget_stage import axe_findings

pytest_plugins = ["tests.support.widget_stage"]

MEMORY, NOUGHTS = "A memory game with animals", "Tic-tac-toe"
ALL = [
    *PROMPTS.values(),
    MEMORY,
    NOUGHTS,
    "A jazz concert in Porto",
    "A portfolio for a photographer in Oslo",
    "A survey about the canteen",
    "Documentation for a parser",
    "A focus timer",
    "A calculator",
]


def page_for(prompt: str, variant: int = 0) -> str:
    brief = read_brief(prompt, variant)
    old, new = improvement(brief)
    return build_page(brief, choose_style(brief)).replace(old, new, 1)


class Visit:
    """Shows pages, always in the same window, and keeps their complaints and what they ask the network for."""

    def __init__(self, browser: Browser) -> None:
        self._page = browser.new_page(reduced_motion="reduce")
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self._page.on("console", lambda message: self.troubles.append(message.text))
        self._page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self._page.on("request", lambda request: self.requests.append(request.url))

    def __call__(self, html: str, scheme: Literal["light", "dark"] = "light", width: int = 390) -> Page:
        self._page.set_viewport_size({"width": width, "height": 800})
        self._page.emulate_media(color_scheme=scheme)
        self._page.set_content(html)
        return self._page

    def close(self) -> None:
        self._page.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    visit = Visit(browser)
    yield visit
    visit.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("prompt", ALL)
def test_a_page_fits_reads_and_fetches_nothing(
    visit: Visit, prompt: str, scheme: Literal["light", "dark"]
) -> None:
    for variant in range(3):
        page = visit(page_for(prompt, variant), scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert axe_findings(page, "html") == []
    assert visit.troubles == []
    assert visit.requests == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "hue", ["red", "orange", "yellow", "green", "teal", "blue", "purple", "pink", "grey", "vivid"]
)
def test_every_hue_can_be_read(visit: Visit, hue: str, scheme: Literal["light", "dark"]) -> None:
    prompt = f"A landing page for a {hue} bakery with prices and reviews"
    assert axe_findings(visit(page_for(prompt), scheme, width=1200), "html") == []


def test_snake_moves_with_the_keys(visit: Visit) -> None:
    page = visit(page_for(PROMPTS["game"]))
    head = "document.getElementById('board').dataset.head.split(',')"
    assert page.evaluate(head) == ["8", "10"]
    page.keyboard.press("ArrowUp")
    page.wait_for_function(f"{head}[1] < 10", timeout=5000)
    page.keyboard.press(" ")
    assert page.locator("#status").inner_text() == "Paused. Press an arrow key to go on."
    page.get_by_label("Left").click()
    page.wait_for_function(f"{head}[0] < 8", timeout=5000)
    page.wait_for_function(
        "document.getElementById('status').textContent.startsWith('Game over')", timeout=5000
    )
    assert visit.troubles == []


def test_memory_finds_pairs_by_keyboard(visit: Visit) -> None:
    page = visit(page_for(MEMORY))
    cards = page.locator("#grid button")
    assert cards.count() == 16
    faces = [cards.nth(i).get_attribute("data-face") for i in range(16)]
    twin = faces.index(faces[0], 1)
    cards.nth(0).focus()
    page.keyboard.press("Enter")
    cards.nth(twin).focus()
    page.keyboard.press("Enter")
    assert page.locator("#pairs").inner_text() == "1"
    cards.nth(5).focus()
    page.keyboard.press("ArrowDown")
    assert (
        page.evaluate("[...document.activeElement.parentNode.children].indexOf(document.activeElement)") == 9
    )
    assert visit.troubles == []


def test_noughts_answers_and_can_be_outwitted(visit: Visit) -> None:
    page = visit(page_for(NOUGHTS))
    page.keyboard.press("1")
    assert page.locator("#grid .o").count() == 1
    for key in "978":
        page.keyboard.press(key)
    assert page.locator("#status").inner_text().startswith("You win.")
    page.keyboard.press("Enter")
    assert page.locator("#grid button:empty").count() == 9
    assert visit.troubles == []


def test_a_form_checks_before_it_thanks(visit: Visit) -> None:
    page = visit(page_for(PROMPTS["form"]))
    page.get_by_role("button", name="Sign up").click()
    assert page.get_by_text("Please fill this in.").count() == 4
    page.get_by_label("Your name").fill("Ada <b>")
    page.get_by_label("E-mail").fill("ada")
    page.get_by_label("How did you hear of us?").select_option("A poster")
    page.get_by_label("I have read").check()
    page.get_by_role("button", name="Sign up").click()
    assert page.get_by_text("This does not look like an e-mail address.").is_visible()
    page.get_by_label("E-mail").fill("ada@example.com")
    page.get_by_role("button", name="Sign up").click()
    assert page.get_by_role("heading", name="Thank you").is_visible()
    assert page.get_by_text("Ada <b>", exact=True).is_visible()
    assert visit.troubles == []


def test_a_chart_is_read_by_pointer_and_keys(visit: Visit) -> None:
    page = visit(page_for("A dashboard:\nweek,sold\nW1,10\nW2,14\nW3,31"))
    plot, reading = page.locator(".plot").first, page.locator(".panel .small").first
    plot.hover(position={"x": 1, "y": 20})
    assert reading.inner_text() == "W1: 10"
    plot.focus()
    page.keyboard.press("ArrowRight")
    assert reading.inner_text() == "W2: 14"
    assert visit.troubles == []


def test_apps_work(visit: Visit) -> None:
    page = visit(page_for(PROMPTS["app"]))
    page.get_by_label("New task").fill("Water <b>plants</b>")
    page.keyboard.press("Enter")
    page.get_by_label("Water <b>plants</b>").first.check()
    assert page.locator("#status").inner_text() == "2 of 4 done"
    page = visit(page_for("A calculator"))
    for key in "12*3+4":
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    assert page.locator("#out").inner_text() == "40"
    page = visit(page_for("A focus timer"))
    page.keyboard.press(" ")
    page.wait_for_function("document.getElementById('time').textContent === '24:59'", timeout=5000)
    assert visit.troubles == []
