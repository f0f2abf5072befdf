"""The page for a brief, and the one improvement that follows it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_nb._base.text import listed
from agent_nb.demo import kinds
from agent_nb.demo.brief import Brief, Kind
from agent_nb.demo.compose import Layout, fill, head, head_font, layouts, note, rest
from agent_nb.demo.dashboard import dashboard, insight
from agent_nb.demo.look import Look
from agent_nb.demo.sections import TITLES
from agent_nb.demo.texts import template


@dataclass(frozen=True, slots=True)
class _Builder:
    file: str
    """Its template, and the name of its layouts."""
    slots: Callable[[Brief, Layout, Sequence[str]], kinds.Slots]
    title: str
    """What it makes, for a sentence."""
    notice: str = ""
    """The line that the improvement adds; the trade's if it is empty."""


_BUILDERS: dict[Kind, _Builder] = {
    "landing": _Builder("landing", kinds.landing, "a landing page"),
    "dashboard": _Builder("dashboard", dashboard, "a dashboard with charts"),
    "form": _Builder(
        "form", kinds.form, "a form that checks itself", "One minute, no account, nothing to remember."
    ),
    "article": _Builder(
        "article", kinds.article, "an article", "In a hurry? Read the first line of each part."
    ),
    "game": _Builder("play", kinds.play, "a game to play", "Keys or fingers, both work."),
    "app": _Builder("play", kinds.play, "a small app that works", "Try it: everything on this page works."),
}


def build_page(brief: Brief, look: Look, found: str = "") -> str:
    """A complete page. `found` is a line to show from a tool's result."""
    builder = _BUILDERS[brief.kind]
    layout = layouts(builder.file)[look.layout]
    shared = {
        "head": head(brief.name, look),
        "head_font": head_font(look),
        "early": layout.early,
        "later": layout.later,
        "rest": rest(look),
        "name": brief.name,
        "found": note(found),
    }
    return fill(template(f"{builder.file}.html"), **shared, **builder.slots(brief, layout, _sections(brief)))


def improvement(brief: Brief) -> tuple[str, str]:
    """The text to replace and its replacement, which adds an eye-catching line at the top."""
    own = insight(brief) if brief.kind == "dashboard" else _BUILDERS[brief.kind].notice
    return "<main>", fill('<main>\n<p class="notice">{{notice}}</p>', notice=own or brief.trade.notice)


def describe(brief: Brief) -> str:
    """A short description of the page: `a landing page with opening hours and contact`."""
    title, parts = _BUILDERS[brief.kind].title, [TITLES[name].lower() for name in _sections(brief)]
    if len(parts) < 2:
        return ", ".join([title, *parts])
    return f"{title}{',' if ' with ' in title else ' with'} {listed(parts)}"


def _sections(brief: Brief) -> list[str]:
    """The sections asked for, or the usual ones if none were; contact is always last."""
    if brief.kind != "landing":
        return []
    wanted = [name for name in brief.wants if name != "contact"]
    return [*(wanted or brief.trade.usual), "contact"]
