"""Writes the files of a run that has ended."""

import contextlib

from agent_nb._base.atomic import not_ours
from agent_nb._base.text import printable
from agent_nb.features.save import SAVE
from agent_nb.plugins import CellCode, CellEnd, FileError
from agent_nb.plugins.engine import acting_files, targets_of, used_files, write_files


class SaveFiles(CellCode[str]):
    async def save(self, end: CellEnd) -> None:
        if not (folder := end.get(SAVE)):
            return
        if error := _save(end, folder):
            end.errors.append(("SaveFailed", error))
        else:
            end.paths.append(folder)
            end.notes.append(f"Files saved in {folder}.")


def _save(end: CellEnd, folder: str) -> str:
    """Write the files; return why they were not written."""
    run = end.run
    try:
        if refusal := _refusal(end, folder):
            return refusal
        write_files(run.files, folder, end.host.home)
    except FileError as error:  # its message includes the remedy
        return str(error)
    except OSError as error:
        return (
            f"{folder!r} could not be written: {error.strerror or error}. "
            f"`{run.name}.files.save(folder)` writes the files elsewhere."
        )
    return ""


def _refusal(end: CellEnd, folder: str) -> str:
    """Why the files are not saved; empty if they need no consent or the user agrees."""
    run, home = end.run, end.host.home
    targets = targets_of(run.files, folder, home)
    replaced = dict.fromkeys(not_ours(targets, home), "replaces content not written by a run")
    acting, used = acting_files(targets, home), used_files(run.files)
    pairs = [*zip(run.files, targets, strict=True)]
    unused = {
        target: "is used by no page"
        for path, target in pairs
        if path not in used and target.parent.exists() and not target.exists() and target not in acting
    }
    by_target = replaced | acting | unused
    effects = {path: by_target[target] for path, target in pairs if target in by_target}
    if not effects:
        return ""
    lines = "".join(f"\n  {printable(path, keep='')} {effect}" for path, effect in effects.items())
    changes = {
        "replace files": replaced,
        "add files that run automatically": acting,
        "add files that no page uses": unused,
    }
    summary = " and ".join(change for change, changed in changes.items() if changed)
    question = f"Saving to {folder!r} would {summary}:{lines}\nSave all files?"
    with contextlib.suppress(KeyboardInterrupt):
        if end.asks and end.host.confirm(question):
            return ""
    path, effect = next(iter(effects.items()))
    return (
        f"Nothing was saved in {folder!r}: {path!r} {effect}, which needs your consent. Leave it out with "
        f"`files.delete({path!r})`, or save all with `{run.name}.files.save({folder!r}, overwrite=True)`."
    )
