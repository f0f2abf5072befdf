"""Whether a run has a branch, and what it was forked from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent_nb.features.branch import BRANCH
from agent_nb.plugins import (
    ConfigError,
    Draft,
    FeatureCode,
    PartInputs,
    Run,
    RunEnd,
    RunPart,
    Text,
    check_type,
    events,
)
from agent_nb.plugins.engine import (
    CODE_TOOL,
    Branch,
    BranchMaker,
    ToolRunner,
    changes_names,
    stricter,
)

_OF_VARIANTS = (
    "Variants with `run_python` work in branches.",
    "make one variant, or leave out `run_python`",
)
_LOST = (
    "The branch of `{}` has ended, so this run works in a copy of the session, without what its code had set."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBranch:
    applies: bool
    """Whether the code can be applied: it changed names, in a branch of this kernel."""


class InBranch(FeatureCode[bool]):
    def read(self, value: Any, names: Mapping[str, Any]) -> bool:
        check_type("branch", value, bool, "True or False")
        return bool(value)

    def prepare(self, draft: Draft) -> None:
        is_asked = bool(draft.get(BRANCH))
        makers = {tool.name: tool.branches for tool in draft.all_tools if tool.branches}
        if is_asked and not makers:
            raise ConfigError(
                "A branch is for the kernel tools, and this run has none: add `-t kernel`, or `*kernel_tools()` to"
                " `tools`."
            )
        own_branches = draft.several and CODE_TOOL in makers
        in_base = draft.run_input.base_settings.get("branch")
        if not makers or not (own_branches or stricter("branch", is_asked, in_base)):
            return
        if draft.is_bound:
            raise ConfigError(
                "A bound page uses the variables of the session, and this run works in a branch: leave out `--bind`, or"
                f" {'make one variant' if own_branches else '`--branch`'}."
            )
        maker: BranchMaker = next(iter(makers.values()))
        if draft.runs_by != "recording":
            maker.check(*(() if is_asked else _OF_VARIANTS))
        draft.toolbox, draft.all_tools = draft.toolbox.in_branch(), draft.all_tools.in_branch()
        draft.recorded["branch"] = True
        draft.kept["branch"] = maker

    def part(self, run: PartInputs) -> RunPart | None:
        maker = run.prepared.kept.get("branch")
        return BranchPart(maker, run) if maker else None

    def shown(self, run: Run) -> ShownBranch | None:
        return ShownBranch(applies=changes_names(run)) if run.branched_from else None


class BranchPart(RunPart):
    def __init__(self, maker: BranchMaker, run: PartInputs) -> None:
        self._maker, self._run = maker, run
        self._branch: Branch | None = None

    async def begin(self, runner: ToolRunner) -> ToolRunner:
        consent = runner.approvals.consent
        await consent.note_secrets()
        base = self._run.prepared.run_input.base
        branch = self._branch = await self._maker.open(base)
        branch.session.known = consent.secrets
        if base and not branch.session.has_base and _has_lost_names(base):
            note = _LOST.format(base.name)
            self._run.journal.emit_now(events.Note, title=note)
            if self._run.gate:
                self._run.gate.allow(f"\n\n{note}")
            self._run.window.add_to_question([Text(f"\n\n{note}", "branch")])
        return replace(runner, context=replace(runner.context, branch=branch))

    def finish(self, end: RunEnd) -> None:
        end.branched_from = self._branch.session if self._branch else None

    def close(self) -> None:
        if self._branch is not None:
            self._branch.keep(self._run.journal.run_id)


def _has_lost_names(base: Run) -> bool:
    """Whether code of the run set names that the session does not have."""
    is_applied = base.branched_from is not None and base.branched_from.is_applied
    return "branch" in base.settings and not is_applied and changes_names(base)
