"""Code as HTML; Python in the colours of the page, as far as Pygments is there, which comes with IPython."""

import itertools
import re
from collections.abc import Iterator

from agent_nb._base.secrets import mask

_COLOURS = {
    "Keyword": "k",
    "Operator.Word": "k",
    "Literal.String": "s",
    "Literal.Number": "s",
    "Comment": "m",
}


def code_html(code: str) -> str:
    """The code with as few entities as HTML allows, masked first because escaping would change a secret.

    JupyterLab sanitises every output for its table of contents when a notebook is opened, and entities take it longest.
    """
    return re.sub(r"&(?=[A-Za-z0-9#])", "&amp;", mask(code)).replace("<", "&lt;")


def coloured(code: str) -> Iterator[tuple[str, str]]:
    """The class of each piece of code, empty for most, and the piece as HTML."""
    try:
        from pygments.lexers.python import PythonLexer
    except ImportError:
        yield "", code_html(code)
        return
    tokens = PythonLexer(stripnl=False, ensurenl=False).get_tokens(code)
    for colour, group in itertools.groupby(tokens, key=lambda token: _colour(str(token[0]))):
        yield colour, code_html("".join(text for _, text in group))


def _colour(kind: str) -> str:
    name = kind.removeprefix("Token.")
    return next((colour for prefix, colour in _COLOURS.items() if name.startswith(prefix)), "")
