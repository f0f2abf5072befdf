"""Asks, and then runs the code of the base run again in the branch of the run that continues it."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agent_nb._base.text import plural
from agent_nb._base.wire import Json
from agent_nb.plugins import Run, Tool, Toolbox, ToolCall, ToolContext, ToolError, ToolOutput, ToolStarted
from agent_nb.plugins.engine import CODE_TOOL, Branch, ToolRunner, kept_steps, numbered_code

CALL_ID = "base_code"
_ABOUT = (
    "Runs the code of the run before again, in the branch of this run, so that its variables are there. What it does to"
    " files and over the network, it does again."
)
_NOT_THERE = "Variables that your earlier code set are not there: it was not run in the branch of this run{}."


async def run_base_code(base: Run, branch: Branch, runner: ToolRunner, emit: Callable[..., Any]) -> str:
    """Run the code as one call, by the approval rule for `run_python`; return a note for the model, if any."""
    session, tool = base.branched_from, runner.toolbox.get(CODE_TOOL)
    codes = session.codes(base) if session else [step.code for step in kept_steps(base)]
    if not base.settings.get("branch") or not codes or (session and session.is_applied):
        return ""
    if session is None or tool is None:
        return _NOT_THERE.format("")
    work = _BaseCode(codes, branch)
    title = f"run the code of `{base.name}` again (in a branch)"
    emit(ToolStarted, call_id=CALL_ID, name=CODE_TOOL, title=title)
    spec = replace(tool.spec, description=_ABOUT)
    wrapped: Tool = replace(tool, spec=spec, run=work.run, title=lambda args: title, branches=None)
    call = ToolCall(CALL_ID, CODE_TOOL, json.dumps({"code": work.text}))
    (result,) = await replace(runner, toolbox=Toolbox([wrapped])).run([(CALL_ID, call)])
    branch.session.follow(session, work.done, whole=result.ok)
    if result.ok:
        return ""
    if result.code == "DENIED":
        return _NOT_THERE.format(", because that was not allowed")
    place = f"call {len(work.done) + 1} of {len(work.codes)}"
    return _NOT_THERE.format(f" from {place} on, which failed")


class _BaseCode:
    def __init__(self, codes: list[str], branch: Branch) -> None:
        self.codes, self._branch = codes, branch
        self.done: list[str] = []
        self.text = numbered_code(codes)
        """What the card shows."""

    async def run(self, args: Json, context: ToolContext) -> ToolOutput:
        if args["code"] != self.text:  # changed by the user, a hook or an approval function
            self.codes = [str(args["code"])]
        total = len(self.codes)
        for number, code in enumerate(self.codes, 1):
            try:
                await self._branch.call(CODE_TOOL, {"code": code}, context)
            except ToolError as error:
                place = f"Call {number} of {total}: " if total > 1 else ""
                error.message, error.summary = place + error.message, place + error.summary
                raise
            self.done.append(code)
        return ToolOutput(text=f"{plural(total, 'call')} ran again")
