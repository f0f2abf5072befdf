"""`AGENTS.md` of the notebook's folder: someone else's text, which joins the instructions once the user allows it."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agent_nb._base.atomic import read_file
from agent_nb._base.constants import DEMO
from agent_nb._base.secrets import mask_values
from agent_nb._base.text import printable
from agent_nb._base.user_file import UserFile
from agent_nb.engine.start import Prepared
from agent_nb.notebook.asking import DECLINED, refusal
from agent_nb.notebook.session import Session
from agent_nb.prompts import prompt_text

FILE = "AGENTS.md"
CONSENTS = UserFile("agents_md.json", "allowed")
MAX_BYTES = 20_000
MAX_FOLDERS = 5


def with_agents_md(session: Session, runs: Sequence[Prepared]) -> tuple[tuple[Prepared, ...], str]:
    """Add the file's text to the runs that take it, after asking; return them and a note if it is left out."""
    path = find_file(session.home)
    if path is None or not any(map(_takes, runs)):
        return tuple(runs), ""
    name = os.path.relpath(path, session.home)
    try:
        text = _read(path)
    except (OSError, ValueError) as error:
        return tuple(runs), f"`{name}` was left out: {getattr(error, 'strerror', None) or error}."
    if not text:
        return tuple(runs), ""
    place = printable(str(path), keep="")
    question = f"Send {place} with the instructions of your runs from now on? It says:\n\n{text}\n\nSend it?"
    if why := refusal(session, CONSENTS, (str(path.resolve()), text), question):
        remedy = " `--agents-md off` leaves it out without a question." if why == DECLINED else ""
        return tuple(runs), f"`{name}` was left out: {why}.{remedy}"
    text = f"{prompt_text('agents_md')}\n\n{mask_values(text)}"
    return tuple(_with_text(run, name, text) if _takes(run) else run for run in runs), ""


def find_file(home: Path) -> Path | None:
    """The nearest file, beside the notebook or above it in the same repository; None if there is none."""
    folders = [home, *home.parents][:MAX_FOLDERS]
    top = next((index for index, folder in enumerate(folders) if os.path.exists(folder / ".git")), 0)
    paths = (folder / FILE for folder in folders[: top + 1])
    return next((path for path in paths if os.path.exists(path)), None)


def _read(path: Path) -> str:
    """The text, with invisible characters written out, as the question shows them."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(path.parent)):
        raise ValueError("it is a link out of its folder")
    try:
        return printable(read_file(path, MAX_BYTES).decode("utf-8-sig").replace("\r\n", "\n").strip())
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None


def _takes(run: Prepared) -> bool:
    """Whether the run takes the text: not a replay, the demo, an outside agent or a lean request."""
    is_demo = run.provider.name.partition(":")[0] == DEMO
    return not (run.driver or is_demo or run.recorded_settings.get("lean"))


def _with_text(run: Prepared, name: str, text: str) -> Prepared:
    own = run.settings.instructions or ""
    texts = (run.system.removesuffix(own).rstrip(), text, own)
    return replace(
        run,
        system="\n\n".join(filter(None, texts)),
        settings=replace(run.settings, agents_md=name),
        recorded_settings={**run.recorded_settings, "agents_md": name},
    )
