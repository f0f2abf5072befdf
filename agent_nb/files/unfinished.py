"""Files that the model was still writing when its run ended."""

import itertools
from collections.abc import Sequence

from agent_nb.events import Event, FileChanged, FileDelta, ToolFinished, TurnRetrying, TurnStarted
from agent_nb.files.file_paths import provisional_path
from agent_nb.files.files import Files


def unfinished_files(events: Sequence[Event], files: Files) -> dict[str, str]:
    """The text so far of each file whose call in the last turn was cut off, by path."""
    # Searched from the end: a run that ended normally has a short last turn after a long one.
    begins = TurnStarted | TurnRetrying
    last_turn = [*itertools.takewhile(lambda event: not isinstance(event, begins), reversed(events))]
    # `STOPPED` is the result of a call that the end of the run cut off.
    over = {
        event.call_id
        for event in last_turn
        if isinstance(event, FileChanged) or (isinstance(event, ToolFinished) and event.code != "STOPPED")
    }
    pieces: dict[str, list[str]] = {}
    for event in reversed(last_turn):
        if not isinstance(event, FileDelta) or event.call_id in over:
            continue
        if event.offset == 0:
            pieces.pop("", None)
            pieces[event.path] = []
        pieces.setdefault(event.path, []).append(event.text)  # a file may begin with any event
    found = {path: "".join(texts) for path, texts in pieces.items()}
    if unnamed := found.pop("", None):
        found[provisional_path(unnamed, [*files, *found])] = unnamed
    return found


def lost_files(events: Sequence[Event], files: Files) -> dict[str, str]:
    contents = list(files.values())
    return {path: text for path, text in unfinished_files(events, files).items() if text not in contents}
