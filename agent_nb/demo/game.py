"""Games: snake, memory, noughts and crosses, for keyboard and touch."""

import json
import re

from agent_nb.demo.brief import Brief, game_of
from agent_nb.demo.compose import Html, fill, head, note
from agent_nb.demo.look import FONTS, Look
from agent_nb.demo.texts import template

_LEDES = {
    "snake": "Eat, grow, and mind the walls.",
    "memory": "Eight pairs, face down. How few moves do you need?",
    "noughts": "Three in a row wins. The machine does not blunder, but it can be outwitted.",
}
_FACES = (
    (r"animals?|cats?|dogs?|zoo|pets?|farm", "🐈🐕🦊🐢🦉🐝🐙🦋"),
    (r"space|stars?|planets?|rockets?", "🚀🪐🌙⭐🛸🔭☄️🌍"),
    (r"weather|sea|ocean|nature|garden|flowers?", "🌊🌻🍂🌵🌈⛅🍄🐚"),
    (r"", "🍎🍋🍇🍓🍐🥝🍒🍊"),
)


def game(brief: Brief, look: Look, found: str) -> Html:
    kind = game_of(brief.prompt)
    css, board, script = template(f"games/{kind}.html").split("-----\n")
    return fill(
        template("game.html"),
        head=head(brief.name, look),
        css=fill(css.strip(), head_font=Html(FONTS[look.font])),
        name=brief.name,
        lede=_LEDES[kind],
        found=note(found),
        board=Html(board.strip()),
        footer="A sample game by the offline demo model. It keeps no score once you close it.",
        script=fill(script.strip(), faces=Html(json.dumps(_faces(brief.prompt), ensure_ascii=False))),
    )


def _faces(prompt: str) -> list[str]:
    faces = next(
        faces for theme, faces in _FACES if not theme or re.search(rf"\b(?:{theme})\b", prompt[:300], re.I)
    )
    return re.findall(r".\ufe0f?", faces)
