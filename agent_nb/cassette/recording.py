"""Writes a run's cassette once all its variants have ended, in a thread because a long run takes seconds to write."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from agent_nb._base.atomic import check_place, folder_of, note_written, write_atomically
from agent_nb._base.log import log
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.cassette.matching import differences
from agent_nb.cassette.player import locate, read_cassette
from agent_nb.core.errors import CassetteError, SavedRunError
from agent_nb.core.events import ENDINGS, TurnStarted
from agent_nb.engine.handle import RunHandle
from agent_nb.engine.prepared import PreparedRun, variants_fingerprint
from agent_nb.run.run import Run, combine_variants
from agent_nb.run.run_reader import read_run
from agent_nb.run.run_writer import run_file

_FAILED = "Not recorded: the recorder failed; `%agent log on` shows details."


class CassetteRecording:
    """The recording of a run with all its variants.

    A relative path is resolved against `folder`. A failure is logged, unless the caller shows the outcome (`quiet`).
    """

    def __init__(self, path: Path, folder: Path, quiet: bool, variants: Sequence[PreparedRun]) -> None:
        self._path, self._folder, self._quiet = path, folder, quiet
        self._file, self._within = locate(path, folder), folder_of(path, folder)
        self._check_path(variants_fingerprint(variants))
        self._handles: Sequence[RunHandle] = ()
        self._writing: asyncio.Task[None] | None = None
        self.outcome = _FAILED

    def follow(self, handles: Sequence[RunHandle]) -> None:
        self._handles = handles
        for handle in handles:
            handle.recording = self
            handle.when_done.append(self._on_run_ended)
            handle.settling.append(self.written)

    async def written(self) -> None:
        if self._writing is not None:
            await asyncio.wait([self._writing])

    def _on_run_ended(self) -> None:
        runs = [handle.result for handle in self._handles if handle.result]
        if len(runs) < len(self._handles):
            return
        self._end(combine_variants(runs), runs)

    def end(self, run: Run) -> None:
        self._end(run, [run])

    def _end(self, run: Run, whole: Sequence[Run]) -> None:
        self.outcome = self._refusal(whole)
        if not self.outcome:
            self.outcome = f"{self._path.as_posix()} is being written."
            self._writing = asyncio.get_running_loop().create_task(off_loop(self._write, run))

    def _refusal(self, runs: Sequence[Run]) -> str:
        for number, run in enumerate(runs, 1):
            which = f"variant {number}" if len(runs) > 1 else "the run"
            if next(run.events.of(TurnStarted), None) is None:
                return f"Not recorded: {which} ended before the model was called."
            ending = ENDINGS[run.reason]
            # Such a run should rarely replace a good recording.
            if ending.is_by_user or run.reason == "failed":
                how = f"was {ending.words}" if ending.is_by_user else ending.words
                keep = f"{run.name}.save({self._path.as_posix()!r})"
                return f"Not recorded: {which} {how}. `{keep}` saves it anyway."
        return ""

    def _write(self, run: Run) -> None:
        path = self._path.as_posix()
        try:
            data = run_file(run)
            read_run(data, path)
            write_atomically(self._file, data, within=self._within, shared=True)
            note_written([data], self._folder)
            self.outcome = f"Recorded in {path}."
            return
        except SavedRunError as error:
            self.outcome = f"Not recorded: {error}"
        except OSError as error:
            self.outcome = f"Not recorded: {path!r} cannot be written: {error.strerror}."
        except Exception:  # the run succeeded; only its recording is lost
            log.exception("the cassette could not be written")
            self.outcome = _FAILED
        if not self._quiet:
            log.warning(self.outcome)

    def _check_path(self, request: Json) -> None:
        """Raise before anything is sent if the cassette cannot be written or would replace a different one."""
        path = self._path.as_posix()
        if why := _why_not_there(self._file, self._within):
            raise CassetteError(f"{path!r} cannot be recorded: {why}.")
        if self._file.is_file():
            instead = "Delete it, or record to another path."
            try:
                existing = read_cassette(self._path, self._folder)
            except CassetteError as error:
                raise CassetteError(error.message, remedy=instead) from None
            if difference := next(differences({**request, "prompt": existing.prompt}, request), ""):
                raise CassetteError(f"{path!r} was recorded with {difference}. {instead}")


def _why_not_there(path: Path, within: Path | None) -> str:
    try:
        check_place(path, within)
        if path.exists() and not path.is_file():
            return "it is a folder" if path.is_dir() else "it is not a file"
        folder = next(parent for parent in path.parents if parent.exists())
    except (OSError, ValueError) as error:
        return str(getattr(error, "strerror", error))
    if folder.is_dir() and os.access(folder, os.W_OK):
        return ""
    return f"{folder.as_posix()!r} is not a writable folder"
