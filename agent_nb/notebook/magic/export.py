"""`%agent export NAME [PATH]`: a run as one HTML file that replays it."""

from pathlib import Path

from IPython.core.error import UsageError

from agent_nb._base.atomic import check_place, folder_of
from agent_nb.files import human_size
from agent_nb.notebook.session import Session
from agent_nb.run import Run


def export_command(session: Session, rest: str) -> None:
    """Writes `NAME.replay.html` beside the notebook, or PATH."""
    name, _, given = rest.partition(" ")
    if not name:
        raise UsageError(f"Name the run to export, such as `{session.command('export hero')}`.")
    run = session.namespace.get(name)
    if not isinstance(run, Run):
        raise UsageError(
            f"`{name}` is not a finished run. `{session.command('load NAME')}` loads a saved one."
        )
    given = given.strip().strip("\"'") or f"{name}.replay.html"
    path = session.home / Path(given).expanduser()
    try:
        check_place(path, folder_of(given, session.home))
        written = run.to_replay(path)
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror or error}.") from None
    size = human_size(written.stat().st_size)
    print(f"Wrote {written} ({size}). It replays `{name}` in any browser, without a server.")
