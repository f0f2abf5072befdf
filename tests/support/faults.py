"""A run with tools over the wire, a fault at one of its events, and what must hold however it ends."""

import asyncio
import itertools
import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from agent_nb import Agent, Run, load, replay
from agent_nb.core.events import FileChanged, RunFinished
from tests.support.wire import Call, Fault, Reply, Request, Say, Think, Tokens, WireServer, reply
from tests.support.wire.cases import CASES, KEY, Case, without_waits
from tests.support.wire.dialects import DIALECTS

PROMPT = "A bakery page."
PAGE = "<!doctype html>\n<title>Pain</title>\n<ul>\n<li>Levain — 3 €</li>\n</ul>\n"
STYLE = "ul { color: #420; }\n"
EDITED = PAGE.replace("</ul>", "<li>Roll — 1 €</li>\n</ul>")
SILENCE = 0.1
"""Seconds after which a stalled stream is given up."""

STATES = {"index.html": (None, PAGE, EDITED), "style.css": (None, STYLE)}
"""What each file is in the run without a fault, in order."""
POOL = min(32, (os.cpu_count() or 1) + 4)
"""Threads of an event loop's own pool, which stay for its life."""
FILES = {path: states[-1] for path, states in STATES.items()}
FILES_DIFFER = "the files differ, and the run does not say that it failed"
NO_STATE = "the files are no state of the run without the fault"


@dataclass(frozen=True)
class Wire:
    """A protocol, or a server's own way to speak it."""

    name: str
    case: Case
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


WIRES = (
    *(Wire(case.protocol, case) for case in CASES),
    Wire("chat-no-index", Case("chat", "ollama:qwen3"), {"no_index": True, "reasoning": "reasoning"}),
    Wire("chat-whole", Case("chat", "ollama:qwen3"), {"whole_arguments": True, "finish_reason": "stop"}),
)


class Model:
    """Answers as a model would: it calls what has not succeeded yet, and then says that it is done."""

    def __init__(
        self, wire: Wire, fault: Fault | None = None, turn: int = 0, *, always: bool = False
    ) -> None:
        self._wire, self._fault, self._turn, self._always = wire, fault, turn, always
        self._ids = itertools.count(1)

    def __call__(self, request: Request) -> Reply:
        turn, answer = self._answer(json.dumps(request.body, ensure_ascii=False))
        if turn != self._turn or self._fault is None:
            return answer
        broken = replace(answer, fault=self._fault)
        if not self._always:
            self._fault = None
        return broken

    def _answer(self, conversation: str) -> tuple[int, Reply]:
        calls = {
            "Created index.html": ("create_file", {"path": "index.html", "content": PAGE}),
            "Created style.css": ("create_file", {"path": "style.css", "content": STYLE}),
        }
        missing = [call for text, call in calls.items() if text not in conversation]
        if missing:
            return 0, self._reply(
                Think("Warm colours, a list."), Say("I write the page."), *self._calls(missing)
            )
        if "Edited index.html" not in conversation:
            edit = {"path": "index.html", "old": "</ul>", "new": "<li>Roll — 1 €</li>\n</ul>"}
            return 1, self._reply(Think("A roll is missing."), *self._calls([("edit_file", edit)]))
        return 2, self._reply(Say("The page is ready."))

    def _calls(self, calls: list[tuple[str, dict[str, str]]]) -> Iterator[Call]:
        return (Call(name, arguments, id=f"call_{next(self._ids)}") for name, arguments in calls)

    def _reply(self, *steps: Any) -> Reply:
        echo = {"x-request-key": KEY}
        return reply(*steps, Tokens(), fragment=12, options=self._wire.options, headers=echo)


def events_of(wire: Wire) -> list[list[bytes]]:
    """The events of each turn of the run without a fault."""
    model, turns = Model(wire), []
    written = "Created index.html, Created style.css"
    for conversation in ("", written, f"{written}, Edited index.html"):
        answer = model._answer(conversation)[1]
        chunks = DIALECTS[wire.case.protocol](answer, wire.case.name.partition(":")[2]).stream()
        turns.append([chunk for chunk in chunks if isinstance(chunk, bytes)])
    return turns


def places(wire: Wire) -> list[tuple[int, int]]:
    """Every event of the run, as turn and index."""
    return [(turn, at) for turn, events in enumerate(events_of(wire)) for at in range(len(events))]


def is_another_answer(wire: Wire, kind: str, turn: int, index: int) -> bool:
    """Whether the fault makes another valid answer of this one.

    If events have no numbers and the whole arguments are not repeated, a fragment that comes twice, or after its
    neighbour, cannot be told from the answer of a model that writes this text.
    """
    dialect = DIALECTS[wire.case.protocol]
    mark = dialect.fragment
    if not mark or wire.options.get("whole_arguments"):
        return False
    events = events_of(wire)[turn]
    if kind == "duplicate":
        return not dialect.numbered and mark in events[index]
    return kind == "reorder" and all(mark in event for event in events[index : index + 2])


@dataclass
class Outcome:
    run: Run
    requests: int
    violations: list[str]

    @property
    def only_files_differ(self) -> bool:
        return {*self.violations} <= {FILES_DIFFER, NO_STATE}

    @property
    def name(self) -> str:
        if self.violations:
            return "violations"
        return "recovered" if self.run.reason == "end_turn" else "failed_cleanly"


class Runs:
    """Runs of one wire, on one connection pool: `async with Runs(...) as runs`."""

    def __init__(self, wire: Wire, folder: Path) -> None:
        self.wire, self.folder = wire, folder
        self._server = WireServer()
        self._server.may_refuse = True

    async def __aenter__(self) -> Self:
        await self._server.start()
        self._tasks, self._threads = asyncio.all_tasks(), threading.active_count()
        self._provider = without_waits(self.wire.case.provider(self._server))
        self._patience = self._provider.silence
        self._agent = Agent(self._provider)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._provider.close()
        await self._server.stop()

    async def run(self, kind: str, turn: int, index: int, *, always: bool = False) -> Outcome:
        """One run with the fault at that event, once or at every attempt."""
        server, tape = self._server, self.folder / "run.jsonl"
        tape.unlink(missing_ok=True)
        server.forget_exchanges()
        server.otherwise = Model(self.wire, Fault(kind, index), turn, always=always)
        self._provider.silence = SILENCE if kind == "stall" else self._patience
        run = await self._agent.run(PROMPT)
        run.save(tape)
        found = [*_of_events(run), *_of_files(run), *_of_secrets(run, tape, self.folder)]
        found += [f"left behind: {name}" for name in await self._tasks_left()]
        return Outcome(run, len(server.requests), [*found, *await self._of_replay(run, tape)])

    async def _of_replay(self, run: Run, tape: Path) -> list[str]:
        if not tape.exists():
            return ["no cassette"]
        again = await self._agent.replace(model=replay(tape)).run(PROMPT)
        return [] if _facts(again) == _facts(run) else ["the replay differs"]

    async def left_behind(self) -> list[str]:
        """Tasks, threads and sockets that are left after the provider was closed."""
        await self._provider.close()
        await _until(lambda: not self._server.open_connections)
        sockets = self._server.open_connections
        threads = threading.active_count() - self._threads - POOL
        return [
            *await self._tasks_left(),
            *([f"{sockets} sockets"] if sockets else []),
            *([f"{threads} threads"] if threads > 0 else []),
        ]

    async def _tasks_left(self) -> list[str]:
        def new() -> set[asyncio.Task[Any]]:
            return asyncio.all_tasks() - self._tasks - self._server.answering

        await _until(lambda: not new())
        return [f"task {task.get_name()}" for task in new()]


async def _until(condition: Callable[[], bool]) -> None:
    """Waits a moment: the other side of a socket learns of its end a little later."""
    for _ in range(400):
        if condition():
            return
        await asyncio.sleep(0.005)


def _of_events(run: Run) -> Iterator[str]:
    if [event.seq for event in run.events] != list(range(1, len(run.events) + 1)):
        yield "gap in seq"
    if [isinstance(event, RunFinished) for event in run.events].count(True) != 1:
        yield "not exactly one RunFinished"
    if not isinstance(run.events[-1], RunFinished):
        yield "RunFinished is not last"


def _of_files(run: Run) -> Iterator[str]:
    changed = [event.path for event in run.events if isinstance(event, FileChanged)]
    if any(changed.count(path) > len(states) - 1 for path, states in STATES.items()):
        yield "a change was applied twice"
    files = dict(run.files)
    if files == FILES and run.reason == "end_turn":
        return
    if run.reason != "failed":
        yield FILES_DIFFER
    elif not run.error or "\n" in run.error:
        yield f"the error is no sentence: {run.error!r}"
    if set(files) - set(STATES) or not all(_is_state(path, files.get(path)) for path in STATES):
        yield NO_STATE


def _is_state(path: str, content: Any) -> bool:
    """A failed run also keeps what it had received of a file that it was creating."""
    states = STATES[path]
    return content in states or (isinstance(content, str) and str(states[1]).startswith(content))


def _of_secrets(run: Run, tape: Path, folder: Path) -> Iterator[str]:
    saved = run.save(folder / "saved.run.jsonl")
    places = {
        "events": repr(list(run.events)),
        "messages": repr(run.messages),
        "error": str(run.error),
        "saved run": Path(saved).read_text(encoding="utf-8"),
        "cassette": tape.read_text(encoding="utf-8") if tape.exists() else "",
    }
    yield from (f"key in {name}" for name, text in places.items() if KEY in text)
    if load(saved).events != run.events:
        yield "the saved run differs"


def _facts(run: Run) -> tuple[Any, ...]:
    return run.reason, dict(run.files), [(message.role, message.parts) for message in run.messages]
