"""Python in the colours of the page, as far as Pygments is there, which comes with IPython."""

import html
import itertools
from collections.abc import Iterator

_COLOURS = {
    "Keyword": "k",
    "Operator.Word": "k",
    "Literal.String": "s",
    "Literal.Number": "s",
    "Comment": "m",
}


def coloured(code: str) -> Iterator[tuple[str, str]]:
    """The class of each piece of code, empty for most, and the piece as HTML."""
    try:
        from pygments.lexers.python import PythonLexer
    except ImportError:
        yield "", html.escape(code, quote=False)
        return
    tokens = PythonLexer(stripnl=False, ensurenl=False).get_tokens(code)
    for colour, group in itertools.groupby(tokens, key=lambda token: _colour(str(token[0]))):
        yield colour, html.escape("".join(text for _, text in group), quote=False)


def _colour(kind: str) -> str:
    name = kind.removeprefix("Token.")
    return next((colour for prefix, colour in _COLOURS.items() if name.startswith(prefix)), "")
