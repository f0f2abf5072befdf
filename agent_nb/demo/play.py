"""Pages with something to do in the middle: games and small apps."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import Html, fill, head, layouts, note, rest
from agent_nb.demo.look import Look
from agent_nb.demo.texts import template


@dataclass(frozen=True, slots=True)
class Piece:
    """The part to play or work with."""

    file: str
    """Its styles, markup and script, in the pages folder."""
    lede: str
    footer: str
    slots: Mapping[str, Html] = field(default_factory=dict)
    """For its script."""


def play(brief: Brief, look: Look, found: str, piece: Piece) -> Html:
    css, board, script = template(piece.file).split("-----\n")
    return fill(
        template("play.html"),
        head=head(brief.name, look),
        layout=layouts("play")[look.layout].later,
        css=Html(css.strip()),
        name=brief.name,
        lede=piece.lede,
        found=note(found),
        board=Html(board.strip()),
        rest=rest(look),
        footer=piece.footer,
        script=fill(script.strip(), **piece.slots),
    )
