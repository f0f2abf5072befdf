"""Several pictures at once: asked for together, tried again where it helps, told one by one."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from agent_nb.errors import AgentError, ProviderError, ToolError
from agent_nb.messages import Image
from agent_nb.tools.base import ToolContext, ToolOutput
from agent_nb.tools.image_files import Saved, saved
from agent_nb.tools.invoke import in_thread

SECONDS = 150.0
"""For one picture."""
CALL_SECONDS = 180.0
WAITS = (1.0, 4.0)
"""Before the second and the third try; a vendor may ask for another, up to the longest."""
LONGEST_WAIT = 20.0

T = TypeVar("T")
Work = Callable[[], Awaitable[Saved]]


async def asked(ask: Callable[[], Awaitable[T]]) -> T:
    """What a maker or a cutter gives, asked again while it is only busy; else a ToolError in its words."""
    try:
        async with asyncio.timeout(SECONDS):
            return await _patiently(ask)
    except TimeoutError:
        raise ToolError(f"The picture took longer than {SECONDS:g} seconds.", code="TIMEOUT") from None
    except ToolError:
        raise
    except AgentError as error:
        raise ToolError(str(error)) from None


async def _patiently(ask: Callable[[], Awaitable[T]]) -> T:
    for wait in WAITS:
        try:
            return await ask()
        except ProviderError as error:
            if not error.retryable:
                raise
            await asyncio.sleep(min(wait if error.retry_after is None else error.retry_after, LONGEST_WAIT))
    return await ask()


async def do_all(work: Mapping[str, Work], context: ToolContext, how: str, note: str = "") -> ToolOutput:
    """Does all at once; writes the files in their order, and says of each that failed why."""
    done: list[Saved] = []
    failed: dict[str, str] = {}
    async with asyncio.TaskGroup() as group:
        tasks = {path: group.create_task(_outcome(one)) for path, one in work.items()}
        for number, (path, task) in enumerate(tasks.items(), 1):
            outcome = _written(await task, context)
            if isinstance(outcome, Saved):
                done.append(outcome)
            else:
                failed[path] = outcome
            if len(tasks) > 1:
                context.progress(f"{number} of {len(tasks)}")
    if not done:
        reasons = list(dict.fromkeys(failed.values()))
        told = [f"{path}: {why}" for path, why in failed.items()] if len(reasons) > 1 else reasons
        raise ToolError("\n".join(told))
    count = "1 picture" if len(tasks) == 1 else f"{len(done)} of {len(tasks)} pictures"
    lines = [f"{one.path}: {one.about}" for one in done]
    lines += [f"{path}: failed: {why}" for path, why in failed.items()]
    return ToolOutput(
        text="\n".join(filter(None, (f"{count} {how}.", *lines, note))),
        summary=f"{count} {how}" + (f"; failed: {', '.join(failed)}" if failed else ""),
        images=tuple(one.for_model for one in done),
        outputs=tuple(one.for_person for one in done),
    )


async def do_one(image: Image, path: str, context: ToolContext, note: str) -> ToolOutput:
    """Saves one picture."""
    one = await in_thread(lambda: saved(image, path))
    context.files.write(one.path, one.content)
    return ToolOutput(
        text=f"{one.path}: {one.about}. {note}".strip(),
        summary=one.about,
        images=(one.for_model,),
        outputs=(one.for_person,),
    )


async def _outcome(work: Work) -> Saved | str:
    """The picture, or in words why there is none."""
    try:
        return await work()
    except AgentError as error:
        return str(error)


def _written(outcome: Saved | str, context: ToolContext) -> Saved | str:
    if isinstance(outcome, Saved):
        try:
            context.files.write(outcome.path, outcome.content)
        except AgentError as error:
            return str(error)
    return outcome
