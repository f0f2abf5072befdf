"""Asks for approval with `input()`, in a terminal and where no page shows the run."""

import json
import re
import signal
from collections.abc import Iterator

from agent_nb._base.secrets import MASK, safe_text
from agent_nb._base.text import change_texts, printable
from agent_nb.engine.approval import Answer, nobody_to_ask
from agent_nb.events import ApprovalRequested
from agent_nb.notebook.front_end import on_interrupt

PROMPT = "Approve? yes, no, or a note that denies it: "
NO_INPUT = (EOFError, OSError, RuntimeError)
"""Raised by `input()` and `getpass()` where nobody can answer; IPython's own error for that is a `RuntimeError`."""
_YES_OR_NO = re.compile(r"(y|yes|n|no)\b[\s,.:;]*(.*)", re.IGNORECASE | re.DOTALL)


async def ask_in_text(request: ApprovalRequested, *, several: bool = False) -> Answer:
    """Shows the call and reads the answer; with nobody to read it from, the answer is no.

    `input()` blocks the event loop: where the cell waits for the run, so does everything else. It must run in the
    main thread, because an abandoned thread would take the next line that the user types.
    """
    print(question_text(request, several=several))
    try:
        # While a cell runs, the handler of ipykernel only tells the event loop, which is blocked.
        with on_interrupt(signal.default_int_handler):
            return read_answer(input(PROMPT))  # noqa: ASYNC250 - see above
    except NO_INPUT:
        raise nobody_to_ask() from None


def question_text(request: ApprovalRequested, *, several: bool = False) -> str:
    text = "\n    ".join([question_title(request, several=several), *_arguments(request)])
    note = f"\n({MASK} is a masked value. The call runs with the value itself.)"
    return text + note if MASK in text else text


def question_title(request: ApprovalRequested, *, several: bool = False) -> str:
    variant = f"Variant {request.variant + 1}: " if several else ""
    return _visible(f"{variant}approval needed for {request.title} ({request.name})").replace("\n", " ")


def _visible(text: str) -> str:
    """The text without secrets, and with everything that a terminal would not show written out."""
    return printable(safe_text(text))


def _arguments(request: ApprovalRequested) -> Iterator[str]:
    for name, value in change_texts(request.args, _visible).items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *rest = text.split("\n")
        yield from (
            (f"{name}:", *(f"    {line}" for line in (first, *rest))) if rest else (f"{name}: {first}",)
        )


def read_answer(line: str) -> Answer:
    """`yes`, `no`, either with a note after it, or a note alone, which denies the call."""
    found = _YES_OR_NO.fullmatch(line.strip())
    if found is None:
        return Answer(False, line.strip())
    return Answer(found[1].lower().startswith("y"), found[2].strip())


def confirm(question: str) -> bool:
    """Asks a question of yes or no; no where nobody can answer. Parts of it may have been made printable already.

    Nothing is masked here: what is shown must be what a yes allows.
    """
    shown = printable(question, keep="\n\t<")
    try:
        return input(f"{shown} [y/N] ").strip().lower() in ("y", "yes")
    except NO_INPUT:
        return False
