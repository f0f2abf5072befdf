"""Whether a tool call may run: the approval policy, the questions to the person and their answers."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_nb._base.wire import Json
from agent_nb.engine.own_code import call_own_code
from agent_nb.errors import ToolError
from agent_nb.events import ApprovalRequested, ApprovalResolved
from agent_nb.messages import ToolCall
from agent_nb.providers.base import Clock
from agent_nb.tools import Tool, Toolbox, ToolContext

Policy = Literal["ask", "auto", "deny"] | Callable[[ToolCall, Json], bool | Awaitable[bool]]
Emit = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The user's answer to an approval request."""

    approved: bool
    note: str = ""


Ask = Callable[[ApprovalRequested], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """Hosts that the user has allowed for the rest of the run, in all its variants."""

    names: set[str] = field(default_factory=set)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the user is asked, so that nobody else asks about the same host."""


@dataclass(slots=True, kw_only=True)
class Approvals:
    """Decides about the tool calls of one run."""

    policy: Policy
    toolbox: Toolbox
    emit: Emit
    clock: Clock
    ask: Ask | None = None
    """Asks the user for approval; None if there is nobody to ask, which counts as no."""
    hold: Callable[[], AbstractContextManager[None]] = nullcontext
    """Stops the run's clock while the user is asked."""
    hosts: AllowedHosts = field(default_factory=AllowedHosts)
    _seconds: dict[str, float] = field(default_factory=dict)
    """Seconds that the user took to answer, by call id."""

    @property
    def allowed_hosts(self) -> frozenset[str] | None:
        """The hosts that may be fetched from; None for all."""
        return None if self.policy == "auto" else frozenset(self.hosts.names)

    def take_seconds(self, call_id: str) -> float:
        """Seconds that the user took to answer the questions about a call that has ended."""
        return self._seconds.pop(call_id, 0.0)

    async def check(self, tool: Tool, call: ToolCall, args: Json, title: str, context: ToolContext) -> str:
        """The user's note to the model, if any; raises `ToolError` if the call is denied."""
        note = await self._approve(call, args, tool.name, title) if tool.approval == "ask" else ""
        hosts = await call_own_code("Reading the addresses", tool.fetches, args, context)
        return "\n".join(filter(None, (note, await self._approve_hosts(call, args, hosts) if hosts else "")))

    async def _approve_hosts(self, call: ToolCall, args: Json, hosts: Mapping[str, int]) -> str:
        """Asks about the hosts that have not been allowed yet."""
        with self.hold():  # another variant may be waiting for the answer
            await self.hosts.asking.acquire()
        try:
            new = {host: count for host, count in hosts.items() if host not in self.hosts.names}
            return await self._ask_about_hosts(call, args, new) if new else ""
        finally:
            self.hosts.asking.release()

    async def _ask_about_hosts(self, call: ToolCall, args: Json, new: Mapping[str, int]) -> str:
        names = ", ".join(new)
        try:
            # "Always allow" goes by the name, so that it covers these hosts and not every call of the tool.
            note = await self._approve(call, args, f"{call.name} from {names}", _fetch_title(new))
        except ToolError as denied:
            reason = f"Nothing was fetched from {names}: {denied.message}"
            hint = f"{denied.hint} Use files of this run, images that the person gave, or data: addresses."
            raise ToolError(reason, code=denied.code, hint=hint.strip()) from None
        self.hosts.names.update(new)
        return note

    async def _approve(self, call: ToolCall, args: Json, name: str, title: str) -> str:
        """Applies the approval policy: the user's note to the model, or a `ToolError` if the answer is no."""
        if self.policy == "auto":
            return ""
        if self.policy == "deny":
            raise ToolError(
                "This tool is switched off for this run.", code="DENIED", hint="Go on without it."
            )
        if callable(self.policy):
            if not await call_own_code("The approval function", self.policy, call, args):
                raise ToolError("It was not approved.", code="DENIED", hint="Go on without it.")
            return ""
        if self.ask is None:
            raise nobody_to_ask()
        tool = self.toolbox.get(name)
        description = tool.spec.description if tool else ""
        request = self.emit(
            ApprovalRequested, call_id=call.id, name=name, title=title, args=args, description=description
        )
        answer: Answer = Answer(False)  # in case the run ends, or asking fails, before there is one
        since = self.clock.now()
        try:
            with self.hold():
                answer = await call_own_code("Asking the person", self.ask, request)
        finally:
            self._seconds[call.id] = self._seconds.get(call.id, 0.0) + self.clock.now() - since
            self.emit(ApprovalResolved, call_id=call.id, approved=answer.approved, note=answer.note)
        if not answer.approved:
            raise ToolError("The person said no.", code="DENIED", hint=answer.note or "Go on without it.")
        return answer.note


def nobody_to_ask() -> ToolError:
    """The error of a call that needs approval when there is nobody to ask. It names the remedy."""
    return ToolError(
        "It needs the person's approval, and nobody is there to ask."
        ' `approve="auto"` or a function allows it; in a cell, `--approve auto`.',
        code="DENIED",
        hint="Go on without it.",
    )


def _fetch_title(hosts: Mapping[str, int]) -> str:
    """`fetch 2 images from a.example`, `fetch 3 images: 2 from a.example, 1 from b.example`"""
    total = sum(hosts.values())
    images = "an image" if total == 1 else f"{total} images"
    if len(hosts) == 1:
        return f"fetch {images} from {next(iter(hosts))}"
    return f"fetch {images}: " + ", ".join(f"{count} from {host}" for host, count in hosts.items())
