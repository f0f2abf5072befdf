"""When the model may look at its page, how often, and the text that it gets about that."""

from dataclasses import replace

from agent_nb.plugins import Draft, FeatureCode, PartInputs, RunPart, ToolError
from agent_nb.plugins.engine import PAGE_VIEWER, CheckRequest, PageCheck, PageViewer, ToolRunner, prompt_text


class Look(FeatureCode[None]):
    def prepare(self, draft: Draft) -> None:
        if draft.settings.lean or not draft.provider.sees_pages:
            return
        can_look = bool(draft.viewer and draft.settings.looks)
        if can_look:
            draft.needs.add(PAGE_VIEWER)
        if any(PAGE_VIEWER in tool.needs for tool in draft.all_tools):
            draft.system += "\n\n" + prompt_text("look" if can_look and draft.sends_values else "no_look")

    def part(self, run: PartInputs) -> RunPart | None:
        viewer = run.prepared.viewer
        return LimitedViewer(viewer, run.prepared.settings.looks) if viewer else None


class LimitedViewer(RunPart):
    """The viewer of the run's tools, with a limited number of looks."""

    def __init__(self, viewer: PageViewer, looks: int) -> None:
        self._viewer, self._looks, self._left = viewer, looks, looks

    async def begin(self, runner: ToolRunner) -> ToolRunner:
        return replace(runner, context=replace(runner.context, viewer=self))

    async def check(self, request: CheckRequest) -> PageCheck:
        if not self._left:
            times = "once" if self._looks == 1 else f"{self._looks} times"
            raise ToolError(
                f"You have looked at the page {times}, which is all that this run allows.",
                code="DENIED",
                hint="Finish from what you have seen, and say what may still need attention.",
            )
        self._left -= 1
        return await self._viewer.check(request)
