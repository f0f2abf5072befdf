"""Calls the hooks of features."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from agent_nb._base.log import log
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.core.feature import Feature, features, imported, is_built_in
from agent_nb.core.messages import ToolCall, ToolResult
from agent_nb.engine.description import Description
from agent_nb.engine.draft import CellDraft, CellEnd, CellPrompt, CellStart
from agent_nb.engine.ending import EndRun
from agent_nb.engine.feature_code import CellCode, FeatureCode, Next, PartInputs, RunEnd, RunPart
from agent_nb.engine.tool_runner import ToolRunner
from agent_nb.providers.base import Request, Turn
from agent_nb.tools import Tool

Given = TypeVar("Given")


class Parts:
    """Calls each hook of each part in the order of features. An error ends the run, with the name of the feature."""

    def __init__(self, run: PartInputs) -> None:
        self._parts: list[tuple[str, RunPart]] = []
        for feature in features():
            with _named(feature.name):
                if part := code_of(feature).part(run):
                    self._parts.append((feature.name, part))
                    if type(part).event is not RunPart.event:
                        run.journal.subscribe(part.event)
        self.in_order = any(part.in_order for _, part in self._parts)

    async def begin(self, runner: ToolRunner) -> ToolRunner:
        for name, part in self._parts:
            with _named(name):
                runner = await part.begin(runner)
        return runner

    def outgoing(self, request: Request) -> Request:
        for name, part in self._parts:
            with _named(name):
                request = part.outgoing(request)
        return request

    def written(self, request: Request) -> Request:
        for name, part in self._parts:
            request = part.written(request) if is_built_in(name) else request
        return request

    def completed(self, turn: Turn) -> Turn:
        for name, part in self._parts:
            with _named(name):
                turn = part.completed(turn)
        return turn

    def closing(self) -> str:
        return next((text for _, part in self._parts if (text := part.closing())), "")

    def runs_last(self, calls: Sequence[ToolCall]) -> bool:
        return any(part.runs_last(calls) for _, part in self._parts)

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

    def finish(self) -> RunEnd:
        end = RunEnd()
        for name, part in self._parts:
            try:
                part.finish(end)
            except Exception:
                log.exception("the feature %s failed at the end of the run", name)
        return end

    def close(self) -> None:
        for name, part in self._parts:
            try:
                part.close()
            except Exception:
                log.exception("the feature %s could not be closed", name)


async def prompt_parts(cell: CellPrompt) -> list[Description]:
    parts = []
    for feature in features():
        with _named(feature.name):
            if part := await cell_code_of(feature).prompt(cell):
                parts.append(part)
                if not (cell.sends_values or is_built_in(feature.name)):
                    raise ConfigError(
                        f"The feature `{feature.name}` of a plugin may add values, and this run sends none"
                        " (`--data schema`)."
                    )
    return parts


async def plan_cell(draft: CellDraft) -> None:
    for feature in features():
        with _named(feature.name):
            await cell_code_of(feature).planned(draft)


def start_cell(start: CellStart) -> None:
    for feature in features():
        with _named(feature.name):
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
        except Exception:
            log.exception("the feature %s failed before the run was shown", feature.name)


@contextmanager
def _named(name: str) -> Iterator[None]:
    try:
        yield
    except (AgentError, EndRun):
        raise
    except Exception as error:
        raise EndRun("failed", failure_text(name, error)) from error


def failure_text(name: str, error: Exception) -> str:
    return f"The feature `{name}` failed: {type(error).__name__}: {error}"


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
