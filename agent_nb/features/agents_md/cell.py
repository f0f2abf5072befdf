"""`AGENTS.md` of the notebook's folder: someone else's text, which joins the instructions once the user allows it."""

import os
from pathlib import Path

from agent_nb._base.atomic import read_file
from agent_nb._base.constants import DEMO
from agent_nb._base.secrets import mask_values
from agent_nb._base.text import printable
from agent_nb._base.user_file import UserFile
from agent_nb.features.agents_md import AGENTS_MD
from agent_nb.plugins import CellCode, CellDraft, PreparedRun
from agent_nb.plugins.engine import DECLINED, prompt_text

FILE = "AGENTS.md"
CONSENTS = UserFile("agents_md.json", "allowed")
MAX_BYTES = 20_000
MAX_FOLDERS = 5


class AgentsMd(CellCode[str]):
    async def planned(self, plan: CellDraft) -> None:
        """Add the file's text to the runs that take it, after asking, or a note if it is left out."""
        home = plan.host.home
        path, takers = find_file(home), [*filter(_takes, plan.runs)]
        if plan.get(AGENTS_MD) == "off" or plan.has_system or path is None or not takers:
            return
        name = _name(path, home)
        try:
            text = _read(path)
        except (OSError, ValueError) as error:
            plan.notes.append(f"`{name}` was left out: {getattr(error, 'strerror', None) or error}.")
            return
        if not text:
            return
        place = printable(str(path), keep="")
        question = (
            f"Send {place} with the instructions of your runs from now on? It says:\n\n{text}\n\nSend it?"
        )
        if why := plan.host.refusal(CONSENTS, (str(path.resolve()), text), question):
            remedy = " `--agents-md off` leaves it out without a question." if why == DECLINED else ""
            plan.notes.append(f"`{name}` was left out: {why}.{remedy}")
        else:
            text = f"{prompt_text('agents_md')}\n\n{mask_values(text)}"
            runs = (run.with_section(text, agents_md=name) if _takes(run) else run for run in plan.runs)
            plan.runs[:] = runs


def _name(path: Path, home: Path) -> str:
    return os.path.relpath(path, home)


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


def _takes(run: PreparedRun) -> bool:
    """Whether the run takes the text: not a replay, the demo, an outside agent or a lean request."""
    is_demo = run.provider.name.partition(":")[0] == DEMO
    return run.runs_by == "engine" and not (is_demo or run.recorded_settings.get("lean"))
