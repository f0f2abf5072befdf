"""Captures the elements that a prompt names once for all variants, before the first request."""

import asyncio
from collections.abc import Sequence
from weakref import WeakValueDictionary

from agent_nb.features.elements import ELEMENTS
from agent_nb.plugins import FeatureCode, Part, PartInputs, RunPart
from agent_nb.plugins.engine import Element, PageViewer, ToolRunner, parts_about


class Elements(FeatureCode[Sequence[Element]]):
    def part(self, run: PartInputs) -> RunPart | None:
        elements = run.prepared.get(ELEMENTS)
        # The demo must be the same everywhere, so it sees no pages.
        return ElementsPart(run, elements) if elements and run.prepared.provider.sees_pages else None


class ElementsPart(RunPart):
    def __init__(self, run: PartInputs, elements: Sequence[Element]) -> None:
        self._run, self._elements = run, elements
        self._look = _looks.setdefault(run.journal.run_id, SharedLook())

    async def begin(self, runner: ToolRunner) -> ToolRunner:
        parts = await self._look.at(self._elements, self._run.prepared.viewer)
        self._run.window.add_to_question(parts)
        return runner


class SharedLook:
    """The look of the elements, which variants that start together share. It ends with the last that waits for it."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Sequence[Part]] | None = None
        self._waiting = 0

    async def at(self, elements: Sequence[Element], viewer: PageViewer | None) -> Sequence[Part]:
        task = self._task = self._task or asyncio.create_task(parts_about(elements, viewer))
        self._waiting += 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting -= 1
            if not self._waiting and task.cancel():
                self._task = None


_looks: WeakValueDictionary[str, SharedLook] = WeakValueDictionary()
"""By the id of the runs, which all variants have. The variants keep it."""
