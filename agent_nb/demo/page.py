"""The page for a brief, and the one improvement that follows it."""

from collections.abc import Callable

from agent_nb.demo.article import article
from agent_nb.demo.brief import Brief, Kind
from agent_nb.demo.compose import Html, fill
from agent_nb.demo.dashboard import dashboard, insight
from agent_nb.demo.form import form
from agent_nb.demo.game import game
from agent_nb.demo.landing import landing, landing_sections
from agent_nb.demo.look import Look
from agent_nb.demo.sections import TITLES

_BUILDERS: dict[Kind, Callable[[Brief, Look, str], Html]] = {
    "landing": landing,
    "dashboard": dashboard,
    "form": form,
    "article": article,
    "game": game,
}


def build_page(brief: Brief, look: Look, found: str = "") -> str:
    """A complete page. `found` is a line to show from a tool's result."""
    return str(_BUILDERS[brief.kind](brief, look, found))


def improvement(brief: Brief) -> tuple[str, str]:
    """The text to replace and its replacement, which adds an eye-catching line at the top."""
    notice = {
        "landing": brief.trade.notice,
        "dashboard": insight(brief) if brief.kind == "dashboard" else "",
        "form": "One minute, no account, nothing to remember.",
        "article": "In a hurry? Read the first line of each part.",
        "game": "Keys or fingers, both work.",
    }[brief.kind]
    return "<main>", fill('<main>\n<p class="notice">{{notice}}</p>', notice=notice)


def describe(brief: Brief) -> str:
    """A short description of the page: `a landing page with opening hours and contact`."""
    named = {
        "landing": "a landing page",
        "dashboard": "a dashboard with a chart",
        "form": "a form that checks itself",
        "article": "an article",
        "game": "a game to play",
    }[brief.kind]
    parts = [TITLES[name].lower() for name in landing_sections(brief)] if brief.kind == "landing" else []
    return f"{named} with {', '.join(parts[:-1])} and {parts[-1]}" if parts else named
