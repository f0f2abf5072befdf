"""Sets `run.failed_check`, which fails the cell. A run that did not finish is not checked."""

from dataclasses import replace

from agent_nb.features.check import CHECK
from agent_nb.plugins import CellCode, CellEnd, events
from agent_nb.plugins.engine import failure_of, scope_of


class ChecksRun(CellCode[str]):
    async def ended(self, end: CellEnd) -> None:
        run, did_fail = end.run, end.run.reason == "failed" and end.raises
        if not (check := end.get(CHECK)) or did_fail or events.ENDINGS[run.reason].is_by_user:
            return
        scope = {**end.host.namespace, run.name: run, **scope_of(run)}
        end.run = replace(run, failed_check=failure_of(check, scope))

    async def before_view(self, end: CellEnd) -> None:
        if end.run.failed_check:
            end.errors.append(("CheckFailed", end.run.failed_check))
