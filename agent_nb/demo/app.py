"""Small apps that work: a to-do list, a focus timer, a calculator."""

from agent_nb.demo.brief import Brief, app_of
from agent_nb.demo.compose import Html
from agent_nb.demo.look import Look
from agent_nb.demo.play import Piece, play

_LEDES = {
    "todo": (
        "Write it down, tick it off, breathe out.",
        "A short list gets done.",
        "What is on your mind? Put it here.",
    ),
    "timer": (
        "One thing, twenty-five minutes.",
        "Start it, and forget the clock.",
        "Work a little, rest a little.",
    ),
    "calculator": ("For sums that are too long for a head.", "Plus, minus, and the rest.", "Add it up."),
}


def app(brief: Brief, look: Look, found: str) -> Html:
    name = app_of(brief.prompt)
    footer = "A small app by the offline demo model. It keeps nothing once you close it."
    return play(brief, look, found, Piece(f"apps/{name}.html", brief.choice(_LEDES[name]), footer))
