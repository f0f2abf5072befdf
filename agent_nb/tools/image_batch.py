"""Makes several images at once: requested together, retried where that helps, reported one by one."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from agent_nb._base.threads import in_thread
from agent_nb.errors import AgentError, ProviderError, ToolError
from agent_nb.messages import Image
from agent_nb.tools.base import ToolContext, ToolOutput
from agent_nb.tools.image_files import ImageFile, as_file

SECONDS = 150.0
"""For one image."""
CALL_SECONDS = 180.0
WAITS = (1.0, 4.0)
"""Before the second and the third attempt, unless the vendor asks for another wait."""
MAX_WAIT = 20.0

T = TypeVar("T")
Work = Callable[[], Awaitable[ImageFile]]


async def retried(request: Callable[[], Awaitable[T]]) -> T:
    """Repeats a request to a maker or a cutter while that is busy. Every failure becomes a ToolError."""
    try:
        async with asyncio.timeout(SECONDS):
            return await _retried(request)
    except TimeoutError:
        raise ToolError(f"The image took longer than {SECONDS:g} seconds.", code="TIMEOUT") from None
    except ToolError:
        raise
    except AgentError as error:
        raise ToolError(str(error)) from None


async def _retried(request: Callable[[], Awaitable[T]]) -> T:
    for wait in WAITS:
        try:
            return await request()
        except ProviderError as error:
            if not error.retryable:
                raise
            await asyncio.sleep(min(wait if error.retry_after is None else error.retry_after, MAX_WAIT))
    return await request()


async def save_all(work: Mapping[str, Work], context: ToolContext, how: str, note: str = "") -> ToolOutput:
    """Makes all images at once and writes their files in order. The output says why the others failed."""
    done: list[ImageFile] = []
    failed: dict[str, str] = {}
    async with asyncio.TaskGroup() as group:
        tasks = {path: group.create_task(_outcome(one)) for path, one in work.items()}
        for number, (path, task) in enumerate(tasks.items(), 1):
            outcome = _written(await task, context)
            if isinstance(outcome, ImageFile):
                done.append(outcome)
            else:
                failed[path] = outcome
            if len(tasks) > 1:
                context.progress(f"{number} of {len(tasks)}")
    if not done:
        reasons = list(dict.fromkeys(failed.values()))
        lines = [f"{path}: {why}" for path, why in failed.items()] if len(reasons) > 1 else reasons
        raise ToolError("\n".join(lines))
    count = "1 image" if len(tasks) == 1 else f"{len(done)} of {len(tasks)} images"
    lines = [f"{one.path}: {one.about}" for one in done]
    lines += [f"{path}: failed: {why}" for path, why in failed.items()]
    return ToolOutput(
        text="\n".join(filter(None, (f"{count} {how}.", *lines, note))),
        summary=f"{count} {how}" + (f"; failed: {', '.join(failed)}" if failed else ""),
        images=tuple(one.for_model for one in done),
        outputs=tuple(one.for_user for one in done),
    )


async def save_one(image: Image, path: str, context: ToolContext, note: str) -> ToolOutput:
    """Writes one image to its file."""
    one = await in_thread(lambda: as_file(image, path))
    context.files.write(one.path, one.content)
    return ToolOutput(
        text=f"{one.path}: {one.about}. {note}".strip(),
        summary=one.about,
        images=(one.for_model,),
        outputs=(one.for_user,),
    )


async def _outcome(work: Work) -> ImageFile | str:
    """The image, or why there is none."""
    try:
        return await work()
    except AgentError as error:
        return str(error)


def _written(outcome: ImageFile | str, context: ToolContext) -> ImageFile | str:
    if isinstance(outcome, ImageFile):
        try:
            context.files.write(outcome.path, outcome.content)
        except AgentError as error:
            return str(error)
    return outcome
