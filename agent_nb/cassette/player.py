"""Replays a saved run by publishing its events again. Nothing is executed, asked or sent."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import agent_nb.core.events as ev
from agent_nb._base.atomic import read_file
from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.log import log
from agent_nb._base.wire import Json, from_wire
from agent_nb.cassette.matching import changed_names, differences, normalized
from agent_nb.core.errors import CassetteError, SavedRunError
from agent_nb.core.event_list import EventList
from agent_nb.core.messages import Attachment
from agent_nb.engine.handle import RunHandle
from agent_nb.engine.journal import EventLog
from agent_nb.engine.loop import VariantGroup
from agent_nb.engine.middleware import Hooks
from agent_nb.engine.prepared import release_fingerprint, variants_fingerprint
from agent_nb.engine.start import Prepared
from agent_nb.files import Files
from agent_nb.providers.base import Piece, Provider, Request
from agent_nb.providers.settings import check_pace
from agent_nb.run import Run
from agent_nb.run.cut_off import CutOff
from agent_nb.run.run_reader import MAX_BYTES, read_run
from agent_nb.run.run_writer import SentConversation
from agent_nb.run.turn_requests import conversation_after

_AGAIN = "Record it again, or restore it from version control."
_BREATH = 64
"""Number of events between yields to the event loop in a replay without delays."""
_LAG = 0.004
"""Seconds that a replay may run ahead of the clock; shorter sleeps are too imprecise."""


class ReplayProvider(Provider):
    """One variant of a saved run, under the name of the model that made it."""

    offline = True
    runs_by: Literal["recording"] = "recording"

    def __init__(
        self, run: Run, path: str, *, pace: float = 0.0, variant: int = 0, any_request: bool = False
    ) -> None:
        self.run, self.path, self.pace, self._any_request = run, path, check_pace(pace), any_request
        self.recorded = (run.variants or (run,))[variant]
        self.request: Json = run.fingerprint.get("yours") or {"prompt": run.prompt, "model": run.model}
        self.name = self.recorded.model

    @property
    def variants(self) -> "list[ReplayProvider]":
        return [
            ReplayProvider(self.run, self.path, pace=self.pace, variant=i, any_request=self._any_request)
            for i in range(len(self.run.variants) or 1)
        ]

    @property
    def tries(self) -> int:
        is_one_request = "variants" not in self.request and len(self.run.variants) > 1
        return self.run.variant + 1 if is_one_request else 0

    def prepare(self, prepared: Prepared) -> Prepared:
        """The request with the recording's settings and system text, without middleware."""
        settings = {**self.recorded.settings, "replayed": self.path}
        release = self.run.fingerprint.get("ours", {})
        if parts := changed_names(release, release_fingerprint(prepared)):
            log.info("%s was recorded with other %s; it is replayed anyway", self.path, ", ".join(parts))
        hooks = Hooks(subscribers=prepared.hooks.subscribers)
        return replace(prepared, recorded_settings=settings, system=self.recorded.system, hooks=hooks)

    def differences(self, prepared: Prepared, models: Sequence[str | None]) -> list[str]:
        """Short descriptions of how a request differs from the recorded one; empty if it can be replayed."""
        if self._any_request:
            return []
        if self.tries and len(models) == len(self.run.variants):
            models = models[:1]
        now = {**variants_fingerprint([prepared]), "model": models[0], "variants": models}
        question = conversation_after(self.recorded, 1)[0][-1:]
        images = [part for message in question for part in message.parts if isinstance(part, Attachment)]
        originals = images[: len(self.request.get("images", ()))]
        now = normalized(now, self.request, prepared.run_input.attachments, originals)
        return list(differences(self.request, now))

    def make_run(self, prepared: Prepared, group: VariantGroup, variant: int) -> "ReplayHandle":
        return ReplayHandle(self, prepared, group, variant)

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        raise CassetteError(f"{self.path!r} is a recording, which answers no requests.")

    def __repr__(self) -> str:
        return f"<ReplayProvider {self.path} of {self.name}>"


def replay(path: str | Path, *, pace: float = 0.0, folder: Path | None = None) -> ReplayProvider:
    """A model that replays a saved run.

    `pace` is 1 for the recorded speed and 0 for no delays. Relative paths are resolved against `folder`.
    """
    return ReplayProvider(read_cassette(path, folder), Path(path).as_posix(), pace=pace)


def locate(path: str | os.PathLike[str], folder: Path | None = None) -> Path:
    """The path of a cassette: relative paths are resolved against `folder`, and `~` is expanded."""
    return Path(folder or "") / os.path.expanduser(path)


def read_cassette(path: str | os.PathLike[str], folder: Path | None = None) -> Run:
    """Read a cassette; raise `CassetteError` if it cannot be replayed. `folder` is the base of relative paths."""
    file, name = locate(path, folder), Path(path).as_posix()
    try:
        run = read_run(read_file(file, MAX_BYTES), name, whole=True)
    except FileNotFoundError:
        raise CassetteError(f"There is no cassette {name!r}.") from None
    except SavedRunError as error:
        raise CassetteError(str(error), remedy=_AGAIN) from None
    except (OSError, ValueError) as error:
        raise CassetteError(f"{name!r} cannot be read: {getattr(error, 'strerror', error)}.") from None
    if not run.events:
        raise CassetteError(f"{name!r} has no events to replay.")
    return run


class ReplayHandle(RunHandle):
    def __init__(
        self, provider: ReplayProvider, prepared: Prepared, group: VariantGroup, variant: int
    ) -> None:
        super().__init__(prepared, group.run_id, EventLog(), variant)
        self._base = prepared.run_input.base_id
        self._recorded, self._annotations = provider.recorded, provider.run.annotations
        self._pace, self.fingerprint = provider.pace, provider.run.fingerprint
        self._begin(self._play())

    @property
    def files(self) -> Files:
        versions = {event.path: event.version for event in self.events.of(ev.FileChanged)}
        return self._recorded.original_files.back_to(versions)

    @property
    def conversation(self) -> SentConversation:
        messages, question, _ = conversation_after(self._recorded, len(self.events))
        return SentConversation(self._recorded.system, self._recorded.tools, question, messages)

    async def _play(self) -> None:
        begun = time.monotonic()
        for number, event in enumerate(self._recorded.events):
            ahead = event.at * self._pace - (time.monotonic() - begun) if self._pace else 0
            if ahead > _LAG or number % _BREATH == 0:
                await asyncio.sleep(max(ahead, 0))
            if self._stop_reason:  # stopped by a subscriber
                return
            self._publish(event)

    def _publish(self, event: Any) -> None:
        more: Json = {}
        if isinstance(event, ev.RunStarted):
            more = {"base": self._base, "settings": self.settings}
        elif isinstance(event, ev.ApprovalRequested):
            more = {"allows_whole_run": False, "can_try": False}  # no code runs in a replay
        elif isinstance(event, ev.ToolFinished):
            more = {"outputs": tuple(map(_replayed_output, event.outputs))}
        self._event_log.publish(replace(event, run_id=self.id, variant=self.variant, **more))

    def _finish(self, reason: ev.Reason, error: str | None = None) -> None:
        if self.result is not None:
            return
        if not self.events:
            self._publish(self._recorded.events[0])
        run = self._recorded
        if not isinstance(self.events[-1], ev.RunFinished):
            run = self._cut_off(reason)
        self._end_with(
            replace(
                run,
                id=self.id,
                name=self.name,
                key=self.key,
                settings=self.settings,
                events=self.events,
                annotations=self._annotations if run is self._recorded else (),
                failed_check="",
            )
        )

    def _cut_off(self, reason: ev.Reason) -> Run:
        """The run as far as it was replayed, with a result for every call."""
        run, count = self._recorded, len(self.events)
        messages, question, replaced = conversation_after(run, count)
        cut = CutOff(self.events, self.files, messages, self._event_log.publish)
        later = EventList(run.events[count:]).of(ev.MessageAdded)
        known = next((event.message.parts for event in later), ())
        cut.close(known, could_write=any(tool.stream for tool in self.prepared.toolbox))
        end = cut.end(reason, run.cost and 0.0)
        return replace(run, **end, given_files=None, history=question, replaced=run.replaced[:replaced])


def _replayed_output(bundle: ev.MimeBundle) -> ev.MimeBundle:
    """The recorded output, marked as recorded: no code ran here, so there is nothing to undo or show."""
    names = bundle.get(NAMES_TYPE)
    kinds = ("bound", "changed", "deleted", "in_place")
    if not isinstance(names, dict) or not any(names.get(kind) for kind in kinds):
        return bundle
    remaining = {key: value for key, value in names.items() if key not in ("undo", "kinds")}
    notes = [*from_wire(tuple[str, ...], names.get("notes", ())), "in the recording; no code ran here"]
    return {**bundle, NAMES_TYPE: {**remaining, "notes": notes}}
