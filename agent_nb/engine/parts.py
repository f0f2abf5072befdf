"""Calls the hooks of features."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeVar

from agent_nb._base.log import log
from agent_nb.core.errors import AgentError, ConfigError, error_text
from agent_nb.core.events import Event
from agent_nb.core.feature import Feature, features, imported, is_built_in
from agent_nb.core.messages import ToolCall, ToolResult
from agent_nb.engine.description import Description
from agent_nb.engine.draft import CellDraft, CellEnd, CellPrompt, CellStart, Draft
from agent_nb.engine.ending import EndRun
from agent_nb.engine.feature_code import CellCode, FeatureCode, Next, PartInputs, RunEnd, RunPart, StartRuns
from agent_nb.engine.handle import Handle
from agent_nb.engine.prepared import PreparedRun
from agent_nb.engine.tool_runner import ToolRunner
from agent_nb.providers.base import Request, Turn
from agent_nb.tools import Tool

Given = TypeVar("Given")


class Parts:
    """Calls each hook of each part in the order of features. An error ends the run, with the name of the feature."""

    def __init__(self, run: PartInputs) -> None:
        self._parts: list[tuple[str, RunPart]] = []
        self._error: Exception | None = None
        """Ends the run where an error can, as the first of those that were raised where none can."""
        for feature in features():
            with self._kept(feature.name):
                if part := code_of(feature).part(run):
                    self._parts.append((feature.name, part))
                    if type(part).event is not RunPart.event:
                        run.journal.subscribe(partial(self._event, feature.name, part))
        self.in_order = any(part.in_order for _, part in self._parts)

    @contextmanager
    def _kept(self, name: str) -> Iterator[None]:
        """Keep an error, which ends the run later."""
        try:
            with _named(name):
                yield
        except (AgentError, EndRun) as error:
            log.info("the feature %s failed", name, exc_info=True)
            self._error = self._error or error

    def _event(self, name: str, part: RunPart, event: Event) -> None:
        with self._kept(name):
            part.event(event)

    async def begin(self, runner: ToolRunner) -> ToolRunner:
        if self._error:
            raise self._error
        for name, part in self._parts:
            with _named(name):
                runner = await part.begin(runner)
        return runner

    def outgoing(self, request: Request) -> Request:
        if self._error:
            raise self._error
        for name, part in self._parts:
            with _named(name):
                request = part.outgoing(request)
        return request

    def written(self, request: Request) -> Request:
        for name, part in self._parts:
            with _named(name):
                request = part.written(request) if is_built_in(name) else request
        return request

    def completed(self, turn: Turn, held: str) -> Turn:
        for name, part in self._parts:
            with _named(name):
                turn = part.completed(turn, held)
        return turn

    def closing(self) -> str:
        for name, part in self._parts:
            with _named(name):
                if text := part.closing():
                    return text
        return ""

    def runs_last(self, calls: Sequence[ToolCall]) -> bool:
        for name, part in self._parts:
            with _named(name):
                if part.runs_last(calls):
                    return True
        return False

    async def after_tools(self, results: Sequence[tuple[str, ToolResult]]) -> Next:
        for name, part in self._parts:
            with _named(name):
                if (following := await part.after_tools(results)) is not None:
                    return following
        return None

    def after_turn(self, turn: Turn, left: int) -> Next:
        for name, part in self._parts:
            with _named(name):
                if (following := part.after_turn(turn, left)) is not None:
                    return following
        return None

    def finish(self) -> tuple[RunEnd, str]:
        """What the run ends with, and the error of a feature that has not ended it yet."""
        end = RunEnd()
        for name, part in self._parts:
            with self._kept(name):
                part.finish(end)
                try:
                    json.dumps(end.values.get(name))
                except (TypeError, ValueError):
                    del end.values[name]
                    raise
        error = self._error
        return end, str(error.error or "" if isinstance(error, EndRun) else error or "")

    def close(self) -> None:
        for name, part in self._parts:
            try:
                part.close()
            except Exception:  # the run has ended, and the others must be closed, too
                log.exception("the feature %s could not be closed", name)


async def prompt_parts(cell: CellPrompt) -> list[Description]:
    parts = []
    for feature in features():
        with _named(feature.name, ConfigError):
            if part := await cell_code_of(feature).prompt(cell):
                parts.append(part)
                if not (cell.sends_values or is_built_in(feature.name)):
                    raise ConfigError(
                        f"The feature `{feature.name}` of a plugin may add values, and this run sends none"
                        " (`--data schema`)."
                    )
    return parts


def read_given(feature: Feature[Given], value: Any, names: Mapping[str, Any]) -> Given:
    with _named(feature.name, ConfigError):
        code: FeatureCode[Given] = code_of(feature)
        return code.read(value, names)


def keyword_features() -> dict[str, Feature[Any]]:
    return {feature.name: feature for feature in features() if feature.keyword}


def read_keywords(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """What an agent was given for features, by their names."""
    by_name = keyword_features()
    if unknown := keywords.keys() - by_name.keys():
        raise TypeError(f"Agent.__init__() got an unexpected keyword argument {min(unknown)!r}")
    return {
        name: read_given(by_name[name], value, {}) for name, value in keywords.items() if value is not None
    }


def prepare(draft: Draft) -> None:
    for feature in features():
        with _named(feature.name, ConfigError):
            code_of(feature).prepare(draft)


def run_of_feature(request: Sequence[PreparedRun], start: StartRuns) -> Handle | None:
    """What a feature starts for this request; None if none does."""
    for feature in features():
        with _named(feature.name, ConfigError):
            if (handle := code_of(feature).run(request, start)) is not None:
                return handle
    return None


async def plan_cell(draft: CellDraft) -> None:
    for feature in features():
        with _named(feature.name, ConfigError):
            await cell_code_of(feature).planned(draft)


def start_cell(start: CellStart) -> None:
    for feature in features():
        with _named(feature.name, ConfigError):
            cell_code_of(feature).started(start)


async def end_cell(end: CellEnd) -> None:
    await _after_run(end, lambda code: code.ended(end))


async def save_cell(end: CellEnd) -> None:
    await _after_run(end, lambda code: code.save(end))


async def _after_run(end: CellEnd, call: Callable[[CellCode[Any]], Awaitable[None]]) -> None:
    for feature in features():
        try:
            await call(cell_code_of(feature))
        except Exception as error:
            log.exception("the feature %s failed after the run", feature.name)
            end.errors.append(("AgentFailed", failure_text(feature.name, error)))


async def before_view(end: CellEnd) -> None:
    for feature in features():
        try:
            await cell_code_of(feature).before_view(end)
        except Exception as error:
            log.exception("the feature %s failed before the run was shown", feature.name)
            end.errors.append(("AgentFailed", failure_text(feature.name, error)))


@contextmanager
def _named(
    name: str, kind: Callable[[str], Exception] = lambda text: EndRun("failed", text)
) -> Iterator[None]:
    try:
        yield
    except (AgentError, EndRun):
        raise
    except Exception as error:
        raise kind(failure_text(name, error)) from error


def failure_text(name: str, error: Exception) -> str:
    return f"The feature `{name}` failed: {error_text(error)}"


@cache
def code_of(feature: Feature[Given]) -> FeatureCode[Given]:
    code: FeatureCode[Given] = imported(feature.code)(feature) if feature.code else FeatureCode(feature)
    return code


@cache
def cell_code_of(feature: Feature[Given]) -> CellCode[Given]:
    code: CellCode[Given] = imported(feature.cell)(feature) if feature.cell else CellCode(feature)
    return code


def feature_tools() -> dict[str, tuple[Tool, ...]]:
    return {feature.name: imported(feature.tools) for feature in features() if feature.tools}
