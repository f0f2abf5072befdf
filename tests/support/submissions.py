"""Submissions of students, as `%agent submit` writes them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from agent_nb import Files, Run
from agent_nb.files import zipped
from agent_nb.lab.log import FILE, LabLog, entry_of
from agent_nb.run.record import saved_form
from tests.support.notebooks import notebook
from tests.support.shells import quick_run

CHECK = "%%agent hero --check '<form' in html\nA form"
LIVE = "anthropic:claude-opus-5-5"


@cache
def _demo_run() -> Run:
    return quick_run()


def live_run(page: str, run_id: str = "1") -> Run:
    """A run that a model has made."""
    return replace(
        _demo_run(), id=run_id, name="hero", model=LIVE, cost=0.25, files=Files({"index.html": page})
    )


def parts_of(folder: Path, runs: Sequence[Run], book: bytes = b"", **around) -> dict[str, bytes]:
    """The parts of a submission whose log is made in `folder`."""
    folder.mkdir(exist_ok=True)
    log = LabLog(folder)
    for run in runs:
        as_it_ended = replace(run, files=run.files if run.given_files is None else run.given_files)
        log.append(entry_of(as_it_ended, **around))
    return {
        "week3.ipynb": book or notebook("%load_ext agent_nb", CHECK),
        **({FILE: log.read()} if runs else {}),
        **{f"runs/{run.name}-{run.id}.json": saved_form(run) for run in runs},
    }


def submit(path: Path, runs: Sequence[Run], **more) -> Path:
    """Writes a submission to `path`."""
    path.write_bytes(zipped(parts_of(path.parent / f"{path.stem} work", runs, **more)))
    return path
