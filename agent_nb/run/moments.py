"""The files of a run as they were after each of its changes."""

from agent_nb.errors import ConfigError
from agent_nb.event_list import EventList
from agent_nb.events import FileChanged, TurnStarted
from agent_nb.files import Files
from agent_nb.run.record import RunRecord

Changes = dict[str, str | bytes | None]


def changes_back_to(run: RunRecord, moment: object) -> Changes:
    """What turns the files of a run into those after change number `moment`; None deletes a file."""
    given, made = file_changes(run.events)
    if isinstance(moment, bool) or not isinstance(moment, int) or not 0 <= moment <= len(made):
        have = f"0 (as they were given) to {len(made)} (the end)" if made else "no changes of files"
        raise ConfigError(f"There is no moment {moment!r}: this run has {have}.")
    left = run.files if run.given_files is None else run.given_files
    newest = {change.path: change.version for change in (*given, *made)}
    then = {change.path: change for change in (*given, *made[:moment])}
    wanted: Changes = {path: _content(left, change, newest[path]) for path, change in then.items()}
    wanted |= {path: None for path in run.files if path not in then}
    return {path: content for path, content in wanted.items() if content != run.files.get(path)}


def file_changes(events: EventList) -> tuple[list[FileChanged], list[FileChanged]]:
    """The files that a run was given, each as a change, and the changes that it made."""
    given: list[FileChanged] = []
    made: list[FileChanged] = []
    begun = False
    for event in events.of(TurnStarted, FileChanged):
        if isinstance(event, TurnStarted):
            begun = True
        else:
            (made if begun else given).append(event)
    return given, made


def _content(files: Files, change: FileChanged, newest: int) -> str | bytes | None:
    """The version that a change made. Counted from the end, because the oldest versions may have been dropped."""
    if change.action == "deleted":
        return None
    versions = files.versions(change.path)
    index = len(versions) - 1 - (newest - change.version)
    if index < 0:
        raise ConfigError(
            f"Version {change.version} of {change.path} was dropped: a run holds 64 MB of old versions."
        )
    return versions[index]
