"""The page for a brief, and the one improvement that follows it."""

from collections.abc import Callable
from dataclasses import dataclass

from agent_nb.demo.app import app
from agent_nb.demo.article import article
from agent_nb.demo.brief import Brief, Kind
from agent_nb.demo.compose import Html, fill
from agent_nb.demo.dashboard import dashboard, insight
from agent_nb.demo.event import event, event_sections
from agent_nb.demo.form import form
from agent_nb.demo.game import game
from agent_nb.demo.landing import landing, landing_sections
from agent_nb.demo.look import Look
from agent_nb.demo.portfolio import portfolio, portfolio_sections
from agent_nb.demo.recipe import recipe
from agent_nb.demo.sections import TITLES


def _trade_notice(brief: Brief) -> str:
    return brief.trade.notice


@dataclass(frozen=True, slots=True)
class _Builder:
    build: Callable[[Brief, Look, str], Html]
    title: str
    """What it makes, for a sentence."""
    notice: Callable[[Brief], str]
    """The line that the improvement adds."""
    sections: Callable[[Brief], list[str]] = lambda _: []


_BUILDERS: dict[Kind, _Builder] = {
    "landing": _Builder(landing, "a landing page", _trade_notice, landing_sections),
    "event": _Builder(event, "an event page with a programme and tickets", _trade_notice, event_sections),
    "portfolio": _Builder(portfolio, "a portfolio with six sample works", _trade_notice, portfolio_sections),
    "dashboard": _Builder(dashboard, "a dashboard with charts", insight),
    "form": _Builder(
        form, "a form that checks itself", lambda _: "One minute, no account, nothing to remember."
    ),
    "article": _Builder(article, "an article", lambda _: "In a hurry? Read the first line of each part."),
    "recipe": _Builder(
        recipe, "a recipe that scales", lambda _: "Change the servings, and the amounts follow."
    ),
    "game": _Builder(game, "a game to play", lambda _: "Keys or fingers, both work."),
    "app": _Builder(app, "a small app that works", lambda _: "Try it: everything on this page works."),
}


def build_page(brief: Brief, look: Look, found: str = "") -> str:
    """A complete page. `found` is a line to show from a tool's result."""
    return str(_BUILDERS[brief.kind].build(brief, look, found))


def improvement(brief: Brief) -> tuple[str, str]:
    """The text to replace and its replacement, which adds an eye-catching line at the top."""
    notice = _BUILDERS[brief.kind].notice(brief)
    return "<main>", fill('<main>\n<p class="notice">{{notice}}</p>', notice=notice)


def describe(brief: Brief) -> str:
    """A short description of the page: `a landing page with opening hours and contact`."""
    builder = _BUILDERS[brief.kind]
    parts = [TITLES[name].lower() for name in builder.sections(brief)]
    if len(parts) < 2:
        return ", ".join([builder.title, *parts])
    return f"{builder.title}{',' if ' with ' in builder.title else ' with'} {', '.join(parts[:-1])} and {parts[-1]}"
