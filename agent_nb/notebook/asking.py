"""Asks for approval with `input()`, in a terminal and where no page shows the run."""

import json
import re
import signal
from collections.abc import Iterator, Sequence

from agent_nb._base.secrets import MASK, as_accepted, known_secrets
from agent_nb._base.text import change_texts, listed, printable, sha256
from agent_nb._base.user_file import UserFile
from agent_nb.core.events import ApprovalRequested
from agent_nb.engine.approval import Answer, Consent, nobody_to_ask
from agent_nb.engine.draft import DECLINED, Host
from agent_nb.notebook.front_end import on_interrupt

PROMPT = "Approve? yes, no, always, or a note that denies it: "
ANSWER_PROMPT = "Your answer (a number picks a choice, nothing skips the question): "
WRITTEN_PROMPT = "Approve? yes, no, or a note that denies it: "
"""For a call that the model wrote as text, which is never approved for good."""
NO_INPUT = (EOFError, OSError, RuntimeError)
"""Raised by `input()` and `getpass()` where nobody can answer; IPython's own error for that is a `RuntimeError`."""
_YES_OR_NO = re.compile(r"(y|yes|n|no)\b[\s,.:;]*(.*)", re.IGNORECASE | re.DOTALL)


async def ask_in_text(
    request: ApprovalRequested, *, consent: Consent | None = None, several: bool = False
) -> Answer:
    """Show the call and read the answer; raise if nobody can answer. `consent` is that of the run.

    `input()` blocks the event loop, and with it everything else on it. It must run in the main thread, because an
    abandoned thread would consume the next line that the user types.
    """
    print(question_text((consent or Consent()).as_shown(request), several=several))
    try:
        # While a cell runs, ipykernel's handler only notifies the event loop, which is blocked.
        with on_interrupt(signal.default_int_handler):
            if request.is_question:
                return picked(request, input(ANSWER_PROMPT))  # noqa: ASYNC250 - see above
            return read_answer(input(WRITTEN_PROMPT if request.written else PROMPT))  # noqa: ASYNC250
    except NO_INPUT:
        raise nobody_to_ask() from None


def question_text(request: ApprovalRequested, *, several: bool = False) -> str:
    if request.is_question:
        # A second line would look like another choice.
        choices = [printable(text, keep="\t") for text in _choices(request)]
        lines = [printable(request.args["question"]), *(f"{n}. {text}" for n, text in enumerate(choices, 1))]
        return "\n    ".join([question_title(request, several=several), *lines])
    text = "\n    ".join([question_title(request, several=several), *_arguments(request)])
    return text + (f"\n({_secrets_note(request.secrets)} The call runs with it.)" if request.secrets else "")


def _secrets_note(places: Sequence[str]) -> str:
    return f"{MASK} stands for the value of {listed(places)}."


def question_title(request: ApprovalRequested, *, several: bool = False) -> str:
    variant = f"Variant {request.variant + 1}: " if several else ""
    title = f"approval needed for {request.title} ({request.name})"
    return printable(variant + ("the model asks" if request.is_question else title)).replace("\n", " ")


def _choices(request: ApprovalRequested) -> list[str]:
    return list(request.args.get("choices", ()))


def picked(request: ApprovalRequested, line: str) -> Answer:
    """The answer to a question: the choice with this number, or the text. An empty line is no answer."""
    choices = dict(enumerate(_choices(request), 1))
    is_number = line.strip().isdecimal() and len(line) < 10  # Python refuses to convert very long ones
    text = choices.get(int(line), line) if is_number else line
    return Answer(bool(text.strip()), text)


def _arguments(request: ApprovalRequested) -> Iterator[str]:
    for key, value in change_texts(request.args, printable).items():
        name = key.replace("\n", "<U+000A>")  # a second line would look like another argument
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *others = text.split("\n")
        yield from (
            (f"{name}:", *(f"    {line}" for line in (first, *others))) if others else (f"{name}: {first}",)
        )


def read_answer(line: str) -> Answer:
    """Parse `always`, or `yes` or `no` with an optional note; a note alone denies the call."""
    if line.strip().lower() == "always":
        return Answer(True, always=True)
    match = _YES_OR_NO.fullmatch(line.strip())
    if match is None:
        return Answer(False, line.strip())
    return Answer(match[1].lower().startswith("y"), match[2].strip())


def confirm(question: str) -> bool:
    """Ask a yes/no question; False if nobody can answer. Parts of it may already be escaped.

    Only known secrets are masked: the user must see exactly what a yes allows.
    """
    shown, secrets = as_accepted(question, known_secrets())
    text = printable(shown, keep="\n\t<") + (f" ({_secrets_note(secrets)})" if secrets else "")
    try:
        return input(f"{text} [y/N] ").strip().lower() in ("y", "yes")
    except NO_INPUT:
        return False


def refusal(host: Host, consents: UserFile, subject: Sequence[str], question: str) -> str:
    """Why the user has not allowed this subject, a path and what is asked about it; empty if they have.

    Each subject is asked about once: a yes is stored, a no holds for the session.
    """
    key = sha256(json.dumps(subject))
    if key in consents.entries():
        return ""
    declined: set[str] = host.memory.setdefault("declined", set())
    if key not in declined:
        if not host.is_attended():
            return "nobody was there to allow it"
        if confirm(question):
            consents.store(key, {"path": subject[0]})
            return ""
        declined.add(key)
    return DECLINED
