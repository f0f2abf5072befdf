"""Games: snake, memory, noughts and crosses, for keyboard and touch."""

import json
import re

from agent_nb.demo.brief import Brief, game_of
from agent_nb.demo.compose import Html
from agent_nb.demo.look import Look
from agent_nb.demo.play import Piece, play

_LEDES = {
    "snake": (
        "Eat, grow, and mind the walls.",
        "One apple at a time.",
        "Longer is harder. Longer is better.",
    ),
    "memory": (
        "Eight pairs, face down. How few moves do you need?",
        "Look, remember, turn.",
        "Sixteen cards and one good memory.",
    ),
    "noughts": (
        "Three in a row wins. The machine does not blunder, but it can be outwitted.",
        "You begin. Choose well.",
        "An old game against a young machine.",
    ),
}
_FACES = (
    (r"animals?|cats?|dogs?|zoo|pets?|farm", "🐈🐕🦊🐢🦉🐝🐙🦋"),
    (r"space|stars?|planets?|rockets?", "🚀🪐🌙⭐🛸🔭☄️🌍"),
    (r"weather|sea|ocean|nature|garden|flowers?", "🌊🌻🍂🌵🌈⛅🍄🐚"),
    (r"", "🍎🍋🍇🍓🍐🥝🍒🍊"),
)


def game(brief: Brief, look: Look, found: str) -> Html:
    kind = game_of(brief.prompt)
    faces = Html(json.dumps(_faces(brief.prompt), ensure_ascii=False))
    footer = "A sample game by the offline demo model. It keeps no score once you close it."
    return play(
        brief,
        look,
        found,
        Piece(f"games/{kind}.html", brief.choice(_LEDES[kind]), footer, {"faces": faces}),
    )


def _faces(prompt: str) -> list[str]:
    faces = next(
        faces for theme, faces in _FACES if not theme or re.search(rf"\b(?:{theme})\b", prompt[:300], re.I)
    )
    return re.findall(r".\ufe0f?", faces)
