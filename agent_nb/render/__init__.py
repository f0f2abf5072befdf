"""A finished run as frozen HTML, Markdown and text. The same run gives the same bytes.

It knows a run by what it shows (`FinishedRun`), not by its class; nothing here waits, writes or looks at a clock.
"""

from agent_nb._base.secrets import safe_text
from agent_nb.render.digest import run_digest
from agent_nb.render.frozen import first_frame_html, frozen_html, html_page
from agent_nb.render.plain import markdown, plain_text
from agent_nb.render.summary import FinishedRun, model_label, ready_line
from agent_nb.render.transcript import transcript

__all__ = [
    "FinishedRun",
    "bundle",
    "first_frame",
    "ready_line",
    "run_digest",
    "to_html_page",
    "to_markdown",
    "to_text",
]


def bundle(run: FinishedRun) -> dict[str, str]:
    """What a cell shows and saves."""
    rows = transcript(run.events)
    return {
        "text/html": safe_text(frozen_html(run, rows)),
        "text/markdown": safe_text(markdown(run, rows)),
        "text/plain": safe_text(plain_text(run, rows)),
    }


def first_frame(key: str, name: str, model: str, session: str = "") -> dict[str, str]:
    """What a cell shows until the page has mounted, and keeps if the notebook is saved in the middle of the run.

    `session` is the run itself: the same cell may be running in another notebook of the same page.
    """
    said = f"`{name}` was still running when this was saved. Run the cell again to see it finish."
    return {
        "text/html": safe_text(first_frame_html(key, name, model, said, session)),
        "text/markdown": safe_text(said),
        "text/plain": safe_text(f"{name}: still running when this was saved ({model_label(model)})"),
    }


def to_markdown(run: FinishedRun) -> str:
    """The run as a Markdown document: how it ended, what was said and done, the files."""
    return safe_text(markdown(run, transcript(run.events)))


def to_text(run: FinishedRun) -> str:
    """The run as lines that stay the same from run to run: no times, tokens or costs."""
    return safe_text(plain_text(run, transcript(run.events)))


def to_html_page(run: FinishedRun) -> str:
    """The run as one page that needs nothing else."""
    return safe_text(html_page(run, transcript(run.events)))
