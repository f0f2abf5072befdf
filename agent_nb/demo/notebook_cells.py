"""Offers a title and a line about each cell of the notebook, if the prompt and the tools are about cells."""

import re

from agent_nb.core.messages import Text
from agent_nb.demo.conversation import Action, Conversation, DemoCall
from agent_nb.demo.own_tools import failure

LABEL = "This is the offline demo model, a script that says what the first line of a cell does."
_LIST, _INSERT = "list_cells", "insert_cell"
_ABOUT = re.compile(r"\b(?:cells?|notebook)\b", re.I)
_ROW = re.compile(r"^\[\d+\] ([\w-]+) (code|markdown|raw)(?: In\[\d+\]| not run)? `(.*)`(.*)$", re.MULTILINE)
_LINES = {
    "Loads `{}`.": re.compile(r"(?:import|from) (\w+)"),
    "Sets `{}`.": re.compile(r"(?<!\w)(?<!, )(\w++(?:, \w++)*) *+=[^=]"),
    "Defines `{}`.": re.compile(r"(?:async )?(?:def|class) (\w+)"),
    "Calls `{}`.": re.compile(r"(?<![\w.])([\w.]++)\("),
}


def is_about_cells(talk: Conversation) -> bool:
    return {_LIST, _INSERT} <= talk.facts.own_tools and _ABOUT.search(talk.prompt) is not None


def offer_cells(talk: Conversation) -> list[Action]:
    """A look at the cells, then all new ones at once, then the answer."""
    listing, results = talk.results_of(_LIST), talk.results_of(_INSERT)
    if not listing:
        return [Text("First I look at the cells.\n"), DemoCall(_LIST, {})]
    calls = _inserts(listing[0].text) if listing[0].ok else []
    if calls and not results:
        return [Text("I offer a title, and a line about each cell.\n"), *calls]
    problems = [failure(result) for result in (*listing, *results) if not result.ok]
    offered = sum(result.ok for result in results)
    answer = f"I offer {offered} new cells. Accept or refuse each in the tab Notebook."
    items = [answer if offered else "There is nothing that I can offer.", *problems]
    return [Text(f"{LABEL}\n\n" + "".join(f"- {item}\n" for item in items))]


def _inserts(listing: str) -> list[Action]:
    """A title at the top, unless there is one, and a line above each code cell but that of this run."""
    rows = _ROW.findall(listing)
    has_title = bool(rows) and rows[0][1] == "markdown" and rows[0][2].startswith("#")
    texts = [] if has_title else [("top", "# Overview")]
    for (above, *_), (_, kind, line, facts) in zip([("top",), *rows], rows, strict=False):
        if kind == "code" and "of this run" not in facts and not line.startswith("%"):
            matches = ((text, pattern.match(line)) for text, pattern in _LINES.items())
            texts += [(above, text.format(match[1])) for text, match in matches if match][:1]
    return [DemoCall(_INSERT, {"after": above, "kind": "markdown", "source": text}) for above, text in texts]
