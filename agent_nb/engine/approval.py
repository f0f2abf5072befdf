"""Decides whether a tool call may run, by the approval policy or by asking the user."""

import asyncio
import copy
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from agent_nb._base.late import SECRET_SOURCES
from agent_nb._base.secrets import as_accepted, known_secrets
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.core.events import ApprovalRequested, ApprovalResolved, Decider
from agent_nb.core.messages import ToolCall
from agent_nb.core.run_settings import STRICTNESS, Mode, stricter
from agent_nb.engine.ending import EndRun, call_user_code
from agent_nb.engine.trials import Trials, can_try
from agent_nb.providers.base import Clock
from agent_nb.render.transcript import changes
from agent_nb.tools import Tool, Toolbox, ToolContext
from agent_nb.tools.base import no_hosts
from agent_nb.tools.toolbox import sendable

Rule = Mode | Callable[[ToolCall, Json], Any]
"""Ask the user, run it, deny it, or a function that returns True, False or an `Answer`. `run` is for tools that run
code (`Tool.allows_whole_run`): they run without asking until the user revokes it."""
MCP = "mcp:"
Emit = Callable[..., Any]
GO_ON = "Go on without it."
_NOT_ANSWERED = "The user has not answered the question in time. Nothing was run."
ASSUME = "Decide yourself, and say what you assumed."
REFUSALS: dict[str, str] = {
    "policy": "This tool is switched off for this run.",
    "function": "It was not approved.",
}
"""Reasons for a denied call, by who denied it if that was not the user."""
_SHOWN = ("name", "title", "args", "description", "schema")
"""Fields of a request that the user sees."""


@dataclass(frozen=True, slots=True)
class ApprovalRules:
    """A default rule for tools that ask, and rules by name for any tool. Names may be patterns such as `get_*`."""

    default: Rule = "ask"
    by_name: Mapping[str, Rule] = field(default_factory=dict)
    floor: Mode = "auto"
    """The minimum strictness of all rules and of the user's answers."""

    def rule_by_name(self, tool: Tool) -> Rule | None:
        """The rule with the most specific matching name, or None."""
        matches = [name for name in self.by_name if _fits(name, tool)]
        return self.by_name[max(matches, key=_specificity)] if matches else None

    def covers(self, tool: Tool) -> bool:
        return tool.approval == "ask" or self.rule_by_name(tool) is not None

    def rule(self, tool: Tool) -> Rule:
        """The tool's rule. A question is asked unless a rule by name denies it or answers it with a function."""
        named_rule = self.rule_by_name(tool)
        if tool.is_question:
            return named_rule if named_rule == "deny" or callable(named_rule) else "ask"
        return named_rule or self.default

    def allows_whole_run(self, tool: Tool) -> bool:
        """Whether all the tool's calls in a run can be allowed at once; not if the floor is stricter."""
        return tool.allows_whole_run and STRICTNESS.index(self.floor) <= STRICTNESS.index("run")

    def repeats(self, tool: Tool) -> bool:
        """Whether a call in `messages=` may be run again: the tool is repeatable and never needs approval."""
        never_asks = tool.approval != "ask" and tool.fetches is no_hosts
        return tool.repeatable and never_asks and self.rule_by_name(tool) in (None, "auto")

    def at_least(self, mode: Mode) -> "ApprovalRules":
        """These rules, made at least as strict as `mode`."""
        by_name = {name: stricter("approve", rule, mode) for name, rule in self.by_name.items()}
        default, floor = (stricter("approve", rule, mode) for rule in (self.default, self.floor))
        return ApprovalRules(default, by_name, floor)

    def __str__(self) -> str:
        named_rules = [f"{name}={_label(rule)}" for name, rule in self.by_name.items()]
        return ", ".join(
            [*([] if named_rules and self.default == "ask" else [_label(self.default)]), *named_rules]
        )


Policy = Rule | Mapping[str, Rule] | ApprovalRules


def read_policy(policy: Any, toolbox: Toolbox) -> ApprovalRules:
    if isinstance(policy, ApprovalRules):
        rules = policy
    elif isinstance(policy, Mapping):
        rules = ApprovalRules(by_name=dict(policy))
    else:
        rules = ApprovalRules(policy)
    rules_by_name = {"": rules.default, **rules.by_name}
    for name, rule in rules_by_name.items():
        if not callable(rule) and rule not in STRICTNESS:
            place = f"`approve[{name!r}]`" if name else "`approve`"
            raise ConfigError(f"{place} is 'ask', 'auto', 'deny' or a function, not {rule!r}.")
    for name in rules.by_name:
        if not isinstance(name, str) or not (
            name.startswith(MCP) or any(_fits(name, tool) for tool in toolbox)
        ):
            tools = ", ".join(tool.name for tool in toolbox) or "none"
            raise ConfigError(
                f"`approve` names {name!r}, which matches no tool of this agent. Its tools: {tools}."
            )
    code_tools = [tool.name for tool in toolbox if tool.allows_whole_run]
    if any(rule == "run" and name not in code_tools for name, rule in rules_by_name.items()):
        remedy = " or ".join([*(f"`{name}=run`" for name in code_tools), "'auto'"])
        raise ConfigError(f"'run' is only for tools that run code. Use {remedy}.")
    return rules


def _label(rule: Rule) -> str:
    return rule if isinstance(rule, str) else "function"


def _fits(name: str, tool: Tool) -> bool:
    """Whether a pattern matches the tool's name, or its server as in `mcp:weather` or `mcp:weather/get_*`."""
    if not name.startswith(MCP):
        return fnmatchcase(tool.name, name)
    return fnmatchcase(tool.origin, name) or fnmatchcase(tool.origin, f"{name}/*")


def _specificity(name: str) -> tuple[bool, int]:
    """Sort key: exact names before patterns, then by length without wildcards."""
    literal = re.sub(r"\[[^\[\]]*\]|[*?]", "", name)
    return literal == name, len(literal)


class DeniedError(ToolError):
    """A denied call, with the user's note as the hint."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to an approval request."""

    approved: bool
    note: str = ""
    """A message to the model."""
    args: Json | None = None
    """Arguments to run the tool with; None for the model's own."""
    by: Decider = field(default="person", kw_only=True)
    always: bool = field(default=False, kw_only=True)
    """Whether the user approves later calls of the tool, too; of one that runs code, only equal calls."""

    def __post_init__(self) -> None:
        kinds: dict[str, Any] = {"approved": bool, "note": str, "args": dict | None}
        for name, kind in kinds.items():
            if not isinstance(value := getattr(self, name), kind):
                raise ConfigError(f"`{name}` of an Answer cannot be a {type(value).__name__}.")


@dataclass(frozen=True, slots=True)
class ApprovedCall:
    args: Json
    remarks: tuple[str, ...] = ()
    answer: str = ""
    """The user's answer to the call's question."""


Ask = Callable[[ApprovalRequested], Awaitable[Answer]]


@dataclass(slots=True)
class Consent:
    """What the user has allowed for the rest of the run, in all its variants."""

    calls: set[str] = field(default_factory=set)
    """Calls that are always approved: tools, or calls with exactly these arguments."""
    hosts: set[str] = field(default_factory=set)
    code: dict[int, bool] = field(default_factory=dict)
    """Whether all code of a variant may run; False if revoked, missing to use the rules."""
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Lock held while the user is asked about hosts, so that no other call asks about the same one."""
    shares_answers: bool = False
    """Whether an approved call is not asked about again in other variants, which then ask one after the other."""
    known: Mapping[str, str] | None = None
    """The secrets that were known before the first call of the run, and where they are; None before that call."""

    @property
    def secrets(self) -> Mapping[str, str]:
        return known_secrets() if self.known is None else self.known

    async def note_secrets(self) -> None:
        """Note the known secrets, once: a variable that code of the run sets later is none of them."""
        if self.known is None:
            known = await off_loop(known_secrets) if SECRET_SOURCES else known_secrets()
            if self.known is None:  # else code of another variant may have run in the meantime
                self.known = known

    def as_shown(self, request: ApprovalRequested) -> ApprovalRequested:
        """The question as the user sees it."""
        fields = {name: getattr(request, name) for name in _SHOWN}
        texts, secrets = as_accepted(fields, self.secrets)
        return replace(request, **texts, secrets=secrets)

    def covers(self, request: ApprovalRequested) -> bool:
        """Whether an "always" answer covers this request; never a question or a call written as text."""
        return not (request.written or request.is_question) and _covered(request, request.args) in self.calls

    def always(self, request: ApprovalRequested, answer: Answer) -> None:
        """Approve later calls like this one, with the arguments that the user has seen."""
        self.calls.add(_covered(request, request.args if answer.args is None else answer.args))


def _covered(request: ApprovalRequested, args: Json) -> str:
    return f"{request.name} {json.dumps(args, sort_keys=True)}" if request.identical_only else request.name


@dataclass(slots=True, kw_only=True)
class Approvals:
    rules: ApprovalRules
    toolbox: Toolbox
    emit: Emit
    clock: Clock
    ask: Ask | None = None
    """Asks the user for approval; None if there is nobody to ask, so that calls are denied."""
    hold: Callable[[], AbstractContextManager[None]] = nullcontext
    """Pauses the run's clock while the user is asked."""
    consent: Consent = field(default_factory=Consent)
    variant: int = 0
    patience: float | None = None
    """Seconds in which the user answers a question; None for ever."""
    unanswered: set[str] = field(default_factory=set)
    trials: Trials = field(default_factory=Trials)
    _seconds: dict[str, float] = field(default_factory=dict)
    """Seconds the user took to answer, by call id."""

    @property
    def code_runs(self) -> bool:
        return any(self._tool_rule(tool) == "run" for tool in self.toolbox)

    def _tool_rule(self, tool: Tool) -> Rule:
        rule = self.rules.rule(tool)
        if rule not in ("ask", "run"):
            return rule
        allowed = self.consent.code.get(self.variant, rule == "run")
        return "run" if allowed and self.rules.allows_whole_run(tool) else "ask"

    def allowed_hosts(self, tool: Tool) -> frozenset[str] | None:
        return None if self.rules.rule(tool) == "auto" else frozenset(self.consent.hosts)

    def take_seconds(self, call_id: str) -> float:
        return self._seconds.pop(call_id, 0.0)

    async def check(
        self, tool: Tool, call: ToolCall, args: Json, title: str, context: ToolContext
    ) -> ApprovedCall:
        """Return the arguments to run the tool with; raise `ToolError` if the call is denied."""
        await self.consent.note_secrets()
        if tool.is_question:
            return ApprovedCall(args, answer=await self._ask_question(tool, call, args, title))
        remarks: list[str] = []
        if self.rules.covers(tool):
            allows_whole_run = self.rules.allows_whole_run(tool) and not call.written
            about = {
                "name": tool.name,
                "title": title,
                "allows_whole_run": allows_whole_run,
                "description": tool.spec.description,
                "schema": tool.spec.schema,
                "identical_only": tool.identical_only,
                "can_try": can_try(tool),
            }
            with self.trials.offered(call.id, tool, context):
                answer = await self._approve(call, args, about)
            remarks += _remarks(answer, args)
            args = args if answer.args is None else answer.args
        if hosts := await call_user_code("Reading the addresses", tool.fetches, args, context):
            remarks += await self._approve_hosts(call, args, hosts)
        return ApprovedCall(args, tuple(remarks))

    async def _ask_question(self, tool: Tool, call: ToolCall, args: Json, title: str) -> str:
        try:
            answer = await self._approve(call, args, {"name": tool.name, "title": title, "is_question": True})
        except ToolError as error:
            answer = Answer(True, by="person" if isinstance(error, DeniedError) else "nobody")
        if answer.note:
            return answer.note
        return f"{'Nobody is here' if answer.by == 'nobody' else 'The user did not answer'}. {ASSUME}"

    async def _approve_hosts(self, call: ToolCall, args: Json, hosts: Mapping[str, int]) -> list[str]:
        with self.hold():  # another variant may be waiting for the answer
            await self.consent.asking.acquire()
        try:
            new_hosts = {
                host: count for host, count in hosts.items() if call.written or host not in self.consent.hosts
            }
            return await self._ask_about_hosts(call, args, new_hosts) if new_hosts else []
        finally:
            self.consent.asking.release()

    async def _ask_about_hosts(self, call: ToolCall, args: Json, hosts: Mapping[str, int]) -> list[str]:
        names = ", ".join(hosts)
        try:
            # "Always allow" is stored by name, so that it covers these hosts and not every call of the tool.
            question = {"name": f"{call.name} from {names}", "title": _fetch_title(hosts)}
            answer = await self._approve(call, args, question)
        except ToolError as denied:
            reason, summary = (
                f"Nothing was fetched from {names}: {text}" for text in (denied.message, denied.summary)
            )
            hint = f"{denied.hint} Use files of this run, images that the user gave, or data: addresses."
            raise ToolError(reason, code=denied.code, hint=hint.strip(), summary=summary) from None
        self.consent.hosts.update(hosts)
        return _remarks(answer, args)

    async def _approve(self, call: ToolCall, args: Json, question: Json) -> Answer:
        """Apply the tool's rule; return the answer, or raise `ToolError` if it is no."""
        if not self.consent.shares_answers or "schema" not in question:
            return await self._answered(call, args, question)
        with self.hold():  # another variant may ask about the same call
            await self.consent.asking.acquire()
        try:
            return await self._answered(call, args, question)
        finally:
            self.consent.asking.release()

    async def _answered(self, call: ToolCall, args: Json, question: Json) -> Answer:
        tool = self.toolbox.get(call.name)
        rule = self._rule(call, tool, about_tool="schema" in question)
        if rule == "auto":
            return Answer(True, by="policy")
        fields = {"call_id": call.id, "args": args, "written": call.written, **question}
        asking = rule == "ask" and self.ask is not None
        # Only questions to the user are shown while open; the others appear with their answer.
        request = self.emit(ApprovalRequested, **fields) if asking else None
        answer = Answer(False, by="function" if callable(rule) else "nobody")
        since = self.clock.now()
        try:
            with self.hold():
                answer = await self._answer(rule, call, args, request)
            answer = replace(answer, note=await sendable(answer.note.strip()))
            if answer.args == args or not question.get("schema"):  # only tool arguments can be edited
                answer = replace(answer, args=None)
        except (asyncio.CancelledError, EndRun):
            answer = Answer(False, by="stopped")
            self.unanswered.add(call.id)
            raise
        except ToolError:
            answer = replace(answer, approved=False)
            raise
        finally:
            self._seconds[call.id] = self._seconds.get(call.id, 0.0) + self.clock.now() - since
            if request is None:
                self.emit(ApprovalRequested, **fields)
            self._resolved(call.id, answer, args)
        if not answer.approved:
            raise _denial(answer)
        return answer

    def _rule(self, call: ToolCall, tool: Tool | None, *, about_tool: bool) -> Rule:
        """The tool's rule. Calls written as text may be quotations: only a function can approve them without asking."""
        rule = self._tool_rule(tool) if tool else self.rules.default
        asks = tool is None or tool.approval == "ask" or not about_tool
        return "ask" if call.written and asks and rule in ("auto", "run") else rule

    async def _answer(
        self, rule: Rule, call: ToolCall, args: Json, request: ApprovalRequested | None
    ) -> Answer:
        if callable(rule):
            value = await call_user_code("The approval function", rule, call, copy.deepcopy(args))
            return replace(self._valid(call, _answer_of(value)), by="function")
        if rule == "deny":
            return Answer(False, by="policy")
        if rule == "run":
            return Answer(True, by="run")
        if request is None or self.ask is None:
            return Answer(False, by="nobody")
        if self.consent.covers(request):
            return Answer(True, by="always")
        try:
            async with asyncio.timeout(self.patience):
                answer = _answer_of(await call_user_code("Asking the user", self.ask, request))
        except TimeoutError:
            raise ToolError(_NOT_ANSWERED, code="DENIED", hint=GO_ON) from None
        is_shared = self.consent.shares_answers and answer.approved and request.identical_only
        if (answer.always or is_shared) and not request.written:
            self.consent.always(request, answer)
        return answer

    def _valid(self, call: ToolCall, answer: Answer) -> Answer:
        """The answer of a function, with validated arguments. The page validates the user's edits."""
        tool = self.toolbox.get(call.name)
        if answer.args is None or tool is None:
            return answer
        try:
            return replace(answer, args=self.toolbox.valid(tool, answer.args))
        except ToolError as error:
            raise ToolError(f"The call was approved with invalid arguments: {error.message}") from None

    def _resolved(self, call_id: str, answer: Answer, args: Json) -> None:
        executed = args if answer.args is None else answer.args
        self.emit(
            ApprovalResolved,
            call_id=call_id,
            approved=answer.approved,
            note=answer.note,
            by=answer.by,
            proposed=args,
            executed=executed if answer.approved else None,
        )


def _answer_of(value: object) -> Answer:
    if isinstance(value, Answer):
        return value
    kind = type(value).__name__
    if kind in ("bool", "bool_"):  # also NumPy's
        return Answer(bool(value))
    raise ToolError(
        f"The approval function returned a {kind}, not True, False or an Answer, so the call was denied.",
        code="DENIED",
        hint=GO_ON,
    )


def _denial(answer: Answer) -> ToolError:
    if answer.by == "nobody":
        return nobody_to_ask()
    reason, summary = [REFUSALS.get(answer.by, f"{who} said no.") for who in ("The user", "You")]
    return DeniedError(reason, code="DENIED", hint=answer.note or GO_ON, summary=summary)


def nobody_to_ask(summary: str = "") -> ToolError:
    """Return the error of a call that needs approval. `summary` is shown to the user instead of the default text."""
    text = (
        "It needs {} approval, and nobody is there to ask."
        ' `approve="auto"` or a function allows it; in a cell, `--approve auto`.'
    )
    return ToolError(
        text.format("the user's"), code="DENIED", hint=GO_ON, summary=summary or text.format("your")
    )


def _fetch_title(hosts: Mapping[str, int]) -> str:
    """`fetch 2 images from a.example`, `fetch 3 images: 2 from a.example, 1 from b.example`"""
    total = sum(hosts.values())
    images = "an image" if total == 1 else f"{total} images"
    if len(hosts) == 1:
        return f"fetch {images} from {next(iter(hosts))}"
    return f"fetch {images}: " + ", ".join(f"{count} from {host}" for host, count in hosts.items())


def _remarks(answer: Answer, proposed: Json) -> list[str]:
    who = "An approval function" if answer.by == "function" else "The user"
    remarks = []
    if answer.args is not None:
        remarks.append(f"{who} changed {changes(proposed, answer.args)}; do not repeat the original call.")
    if answer.note:
        remarks.append(f"{who} approved this and says: {answer.note}")
    return remarks
