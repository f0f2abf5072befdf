"""Collects the recorded variants of a run and writes the cassette, whole or not at all.

It is written in a thread, because a long run takes seconds to write.
"""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from agent_nb._base.atomic import check_place, folder_of, write_atomically
from agent_nb._base.log import log
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.cassette.format import Cassette, RecordedVariant
from agent_nb.cassette.matching import differences
from agent_nb.cassette.reader import AGAIN, locate, parse_cassette, read_cassette
from agent_nb.cassette.writer import write_cassette
from agent_nb.errors import CassetteError
from agent_nb.events import ENDINGS

_FAILED = "Not recorded: the recorder failed; `%agent log on` tells more."


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where to write a cassette."""

    path: Path
    """As the user gave it; shown in messages."""
    folder: Path
    """The folder of a relative path."""
    force: bool = False
    quiet: bool = False
    """Whether the caller shows the outcome, so that a failure is not logged as well."""

    @property
    def file(self) -> Path:
        return locate(self.path, self.folder)

    @property
    def within(self) -> Path | None:
        return folder_of(self.path, self.folder)


class Recording:
    """Collects the recorded variants of a run and writes the file when all have ended."""

    def __init__(self, target: Target, *, request: Json, release: Json, variants: int = 1) -> None:
        check_target(target, request)
        self._target, self._request, self._release = target, request, release
        self._missing, self._recorded = variants, list[RecordedVariant]()
        self._writing: asyncio.Task[None] | None = None
        self.outcome = _FAILED
        """Where the cassette is, or why there is none."""

    def add(self, recorded: RecordedVariant) -> None:
        """Adds a variant that has ended; the last one writes the cassette."""
        self._missing -= 1
        self._recorded.append(recorded)
        if self._missing:
            return
        variants = sorted(self._recorded, key=lambda recorded: recorded.variant)
        if refusal := self._refusal(variants):
            self.outcome = refusal
            return
        cassette = Cassette(request=self._request, release=self._release, variants=tuple(variants))
        self.outcome = f"{self._target.path.as_posix()} is being written."
        self._writing = asyncio.get_running_loop().create_task(off_loop(self._write, cassette))

    async def settled(self) -> None:
        """Waits until the file has been written."""
        if self._writing is not None:
            await asyncio.wait([self._writing])

    def _refusal(self, variants: list[RecordedVariant]) -> str:
        """Why no cassette is written; empty if one is."""
        for recorded in variants:
            which = f"variant {recorded.variant + 1}" if len(variants) > 1 else "the run"
            if not recorded.turns:
                return f"Not recorded: {which} ended before the model was asked."
            ending = ENDINGS[recorded.reason]
            # Such a run seldom is what should replace a good recording.
            if (ending.is_by_user or recorded.reason == "failed") and not self._target.force:
                how = f"was {ending.words}" if ending.is_by_user else ending.words
                return f"Not recorded: {which} {how}. `--record --force` records such a run too."
        return ""

    def _write(self, recorded: Cassette) -> None:
        shown = self._target.path.as_posix()
        try:
            plain, text = write_cassette(recorded), write_cassette(recorded, masked=True)
            if parse_cassette(plain, shown) != recorded:
                raise CassetteError(f"{shown!r} would not play as it was recorded.")
            if text != plain:
                parse_cassette(text, shown)
            write_atomically(self._target.file, text.encode(), within=self._target.within, shared=True)
            self.outcome = f"Recorded in {shown}."
            return
        except CassetteError as error:
            self.outcome = f"Not recorded: {error}"
        except OSError as error:
            self.outcome = f"Not recorded: {shown!r} cannot be written: {error.strerror}."
        except Exception:  # the run has ended well; only its recording is lost
            log.exception("the cassette could not be written")
            self.outcome = _FAILED
        if not self._target.quiet:
            log.warning(self.outcome)


def check_target(target: Target, request: Json) -> None:
    """Raises before anything is sent if the cassette cannot be written or would replace one of another prompt."""
    shown, path = target.path.as_posix(), target.file
    if why := _why_not_there(path, target.within):
        raise CassetteError(f"{shown!r} cannot be recorded: {why}.")
    if path.is_file() and not target.force:
        try:
            before = read_cassette(target.path, target.folder)
        except CassetteError as error:
            damage = str(error).removesuffix(AGAIN).strip()
            raise CassetteError(f"{damage} Use `--force` to record over it.") from None
        prompt = {"prompt": before.request.get("prompt", "")}
        if differing := next(differences({**request, **prompt}, request), ""):
            raise CassetteError(
                f"{shown!r} was recorded with {differing}. Give another name, or record over it with `--force`."
            )


def _why_not_there(path: Path, within: Path | None) -> str:
    """Why no file can be written at a path; empty if one can."""
    try:
        check_place(path, within)
        if path.exists() and not path.is_file():
            return "it is a folder" if path.is_dir() else "it is not a file"
        folder = next(parent for parent in path.parents if parent.exists())
    except (OSError, ValueError) as error:
        return str(getattr(error, "strerror", error))
    if folder.is_dir() and os.access(folder, os.W_OK):
        return ""
    return f"{folder.as_posix()!r} takes no new files"
