"""What users see: help, and the runs of the lessons' cassettes and of the demo in all forms."""

import re
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest

from agent_nb import Agent, Run
from agent_nb.plugins import plugins
from agent_nb.render import FORMS, bundle
from agent_nb.run.run_reader import load
from tests.support import ROOT
from tests.support.demo_kit import BAKERY, PROMPTS, agent
from tests.support.shells import start_shell
from tests.unit.golden.compared import difference, digest

CASSETTES = ROOT / "notebooks" / "cassettes"
WHOLE = ("effect, saved as text/html", "effect, saved as text/markdown", "guess, saved as text/html")
"""Forms that are stored as they are. Of the others, only a digest of each block is."""
MOST_TEXT = 2_000
_BLOCK = re.compile(r"(?<=\n)|(?=<(?:article|details|div|h\d|li|p|pre|script|section|style|table|td|tr)\b)")


def help_texts(home: Path) -> dict[str, str]:
    """What explains `%%agent` and `%agent` in a notebook, by the name of its file."""
    with pytest.MonkeyPatch.context() as patch, start_shell(home) as shell:
        patch.setenv("COLUMNS", "120")
        plugins()  # help lists their commands only once they are loaded
        text = shell.run("%agent help").stdout
        assert shell.run("%agent").stdout == text
        magic = shell.ipython.inspector.info(shell.ipython.find_cell_magic("agent"))["docstring"]
        return {"cell_magic.txt": f"{magic}\n", "help.txt": text}


def recordings() -> dict[str, Run]:
    """The runs by name: those of all cassettes, then those that the demo makes now."""
    paths = sorted(CASSETTES.rglob("*.jsonl"))
    runs = {path.name.removesuffix(".run.jsonl"): load(path) for path in paths}
    runs |= {f"demo {kind}": agent().run_sync(prompt) for kind, prompt in PROMPTS.items()}
    runs["demo follow-up"] = Agent("demo:").run_sync("Make it green.", base=agent().run_sync(BAKERY))
    return runs


def forms() -> dict[str, str]:
    """The text of each form of each recording."""
    return {
        f"{name}, {form}": text
        for name, run in recordings().items()
        for form, text in [
            *((f"saved as {kind}", text) for kind, text in bundle(run).items()),
            *((f"exported as {form.suffix}", form.render(run)) for form in FORMS),
        ]
    }


def stored(what: str, text: str) -> Any:
    """What is stored of a form: its blocks, or their digests."""
    parts = _BLOCK.split(text)
    return parts if what in WHOLE else f"{digest(text)} {len(text)}: {' '.join(map(_short, parts))}"


def changes(what: str, then: Any, text: str) -> str:
    """How a form differs from what is stored of it; empty if it does not."""
    parts, now = _BLOCK.split(text), stored(what, text)
    if then == now or isinstance(then, list):
        return difference(what, then, now)
    codes = SequenceMatcher(None, then.split()[2:], now.split()[2:], autojunk=False).get_opcodes()
    texts = [
        f"from block {i1 + 1}, instead of {i2 - i1} blocks:\n{''.join(parts[j1:j2])[:MOST_TEXT]}"
        for kind, i1, i2, j1, j2 in codes
        if kind != "equal"
    ]
    return "\n".join([f"{what}, now", *texts])


def _short(block: str) -> str:
    return digest(block)[:4]
