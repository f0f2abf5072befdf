"""Starts tries of a request one after the other, or the first two at once, until two agree."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_nb.features.agree import AGREE
from agent_nb.features.agree.agreement import Agreement, agreement_of
from agent_nb.features.branch import BRANCH
from agent_nb.plugins import (
    Addition,
    ConfigError,
    Draft,
    FeatureCode,
    PartInputs,
    PreparedRun,
    Run,
    RunPart,
)
from agent_nb.plugins.engine import (
    CODE_TOOL,
    BranchMaker,
    StartRuns,
    ToolRunner,
    VariantsHandle,
    answer_table,
    combine_variants,
)

TEMPERATURE = 0.8
"""Of the tries after the first, on the user's own server; vendors' models are sampled at their own defaults."""
_COLUMNS = re.compile(r"(?:^- (?=[^\n]*: )[^\n]+\n){2,}", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAgreement:
    text: str
    """`2 of 3 agree`"""
    agrees: bool


class Agrees(FeatureCode[int]):
    def prepare(self, draft: Draft) -> None:
        most = draft.get(AGREE) or 1
        if most < 2:
            return
        draft.recorded[AGREE.name] = most
        if draft.runs_by == "recording":
            return
        if draft.runs_by == "agent":
            raise ConfigError(
                "An outside agent ends its runs on its own: leave out `--agree`, or use a model."
            )
        if draft.several or draft.is_bound:
            other = "Leave out `-n` and further models" if draft.several else "Leave out `--bind`"
            raise ConfigError(
                f"`--agree` compares tries of one model, each in a branch. {other}, or `--agree`."
            )
        makers: list[BranchMaker] = [
            tool.branches for tool in draft.all_tools if tool.branches and tool.name == CODE_TOOL
        ]
        if not makers:
            raise ConfigError(
                "`--agree` compares what code computes, and this run has no tool for it: add `-t kernel`, or write"
                " `--agree 1`."
            )
        makers[0].check(
            *(() if draft.get(BRANCH) else ("Tries that must agree work in branches.", "leave out `--agree`"))
        )
        draft.several = True  # so that each has its own branch

    def run(self, request: Sequence[PreparedRun], start: StartRuns) -> VariantsHandle | None:
        most = request[0].get(AGREE) or 1
        return Tries(request[0], most, start) if most > 1 else None

    def part(self, run: PartInputs) -> RunPart | None:
        return TryPart() if (run.prepared.get(AGREE) or 1) > 1 else None

    def value(self, run: Run) -> Agreement | None:
        return agreement_of(run)

    def shown(self, run: Run) -> ShownAgreement | None:
        agreement = agreement_of(run)
        return ShownAgreement(text=str(agreement), agrees=agreement.agree > 0) if agreement else None

    def addition(self, run: Run) -> Addition | None:
        agreement = agreement_of(run) if run.variants else None
        if agreement is None:
            return None
        answers = agreement.answers if not agreement.agree else ()
        rows = {f"try {number}": answer for number, answer in enumerate(answers, 1)}
        return Addition(facts=[str(agreement)], below=[answer_table(rows)] if rows else [])


class TryPart(RunPart):
    async def begin(self, runner: ToolRunner) -> ToolRunner:
        runner.approvals.consent.shares_answers = True
        return runner


class Tries(VariantsHandle):
    """The tries of a request, of which a further one starts when the others have ended and no two agree."""

    def __init__(self, request: Any, most: int, start: StartRuns) -> None:
        self._request, self._most, self._start = replace(request, record=None), most, start
        self._recording = request.record([request]) if request.record else None
        handles = [*start([self._request])]
        if not request.provider.lean:  # the user's own server may answer one request at a time
            handles += start([self._varied(1)], handles)
        super().__init__(handles)
        self._at_once = len(handles)
        for handle in handles:
            handle.recording = self._recording
        self.settling += [self._recording.written] if self._recording else []

    def _varied(self, number: int) -> Any:
        """The request with another temperature, and the columns of tables in another order."""
        request = self._request
        provider = request.provider.sampled(TEMPERATURE)
        settings, sampled = request.recorded_settings, request.provider is not provider
        if sampled:
            settings = {**settings, "sampling": {**settings.get("sampling", {}), "temperature": TEMPERATURE}}
        text = request.run_input.sent_prompt
        rotated = _COLUMNS.sub(lambda match: _rotated(match[0], number), text)
        run_input = request.run_input if rotated == text else request.run_input.asking(rotated)
        return replace(
            request,
            provider=provider,
            run_input=run_input,
            recorded_settings=settings,
            settings=replace(request.settings, limits=self._limits_left()),
        )

    def _limits_left(self) -> Any:
        limits = self._request.settings.limits
        seconds = limits.seconds and max(0.1, limits.seconds - self._elapsed())
        return replace(limits, seconds=seconds)

    def _elapsed(self) -> float:
        runs: list[float] = [
            handle.result.seconds for handle in getattr(self, "handles", ()) if handle.result
        ]
        return max(runs[: self._at_once], default=0.0) + sum(runs[self._at_once :], 0.0)

    def _settle(self) -> None:
        runs = [handle.result for handle in self.handles if handle.result is not None]
        if len(runs) < self.count:
            return
        run = combine_variants(runs)
        agreement = agreement_of(run)
        assert agreement is not None
        is_over = agreement.agree or self.count == self._most or self.chosen or self.is_stopped
        if not is_over and self._may_go_on(runs):
            self.add(*self._start([self._varied(self.count)], self.handles))
            self.handles[-1].recording = self._recording
            return
        picked = self.chosen or agreement.first + 1
        self._choose(run.pick(picked) if run.variants else run)
        if self._recording and self.result:
            self._recording.end(self.result)
        self._event_log.close()

    def _may_go_on(self, runs: Sequence[Run]) -> bool:
        """Whether another try can end differently, and within the limits if it takes as much as the others."""
        last, limits = runs[-1], self._request.settings.limits
        if not (last.reason in ("end_turn", "max_steps", "max_tokens") or (last.error and last.ran_code)):
            return False
        costs = [run.cost or 0.0 for run in runs]
        is_cheap = limits.usd is None or sum(costs) + max(costs) <= limits.usd
        longest = max(run.seconds for run in runs)
        return is_cheap and (limits.seconds is None or self._elapsed() + longest <= limits.seconds)


def _rotated(lines: str, number: int) -> str:
    rows = lines.splitlines(keepends=True)
    return "".join((*rows[number % len(rows) :], *rows[: number % len(rows)]))
