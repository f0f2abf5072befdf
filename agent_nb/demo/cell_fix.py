"""The demo's answer to `%agent fix`: it corrects a misspelt name, and else says what a model would have got."""

import re

from agent_nb._base.text import fenced
from agent_nb.demo.speech import CONNECT
from agent_nb.prompts import prompt_text

_PARTS = re.compile(
    r"The cell:\n(?P<fence>`{3,})python\n(?P<cell>.*?)\n(?P=fence)\n\n"
    r"The error:\n(?P<ticks>`{3,})\n(?P<error>.*?)\n(?P=ticks)(?:\n|$)",
    re.DOTALL,
)
_NEAR = re.compile(r"^Names like `(\w+)` that the notebook has: (\w+)", re.MULTILINE)
_VARIABLE = re.compile(r"^Variable `([^`\n]+)`:$", re.MULTILINE)


def is_fix(prompt: str) -> bool:
    return prompt.startswith(prompt_text("fix")) and _PARTS.search(prompt) is not None


def fix_answer(prompt: str) -> str:
    parts = _PARTS.search(prompt)
    cell, error = (parts["cell"], parts["error"]) if parts else ("", "")
    rest = prompt[parts.end() :] if parts else ""
    if near := _NEAR.match(rest.strip()):
        wrong, right = near.groups()
        fixed = re.sub(rf"(?<![\w.]){wrong}\b", right, cell)
        return (
            f"The notebook has no `{wrong}`, but it has `{right}`. This is the offline demo model, a script that "
            f"corrects misspelt names.\n\n{fenced(fixed, 'python')}\n"
        )
    names = ", ".join(f"`{name}`" for name in _VARIABLE.findall(rest))
    values = f"the values of {names}" if names else "no values, because it names no variables that hold data"
    return (
        "This is the offline demo model, a script that corrects misspelt names, and this error is another. A real"
        f" model would get the cell ({_lines(cell)}), the error ({_lines(error)}) and {values}.\n\n{CONNECT}\n"
    )


def _lines(text: str) -> str:
    count = text.count("\n") + 1
    return "1 line" if count == 1 else f"{count} lines"
