"""Parses a conversation: the current prompt, its calls so far, and the page before it."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_nb._base.wire import Json
from agent_nb.core.messages import Image, Message, Text, ToolCall, ToolResult
from agent_nb.demo.bound import DemoBindings, split_prompt
from agent_nb.files import entry_of
from agent_nb.providers.base import Request
from agent_nb.tools.file_tools import CREATE_FILE, EDIT_FILE, READ_FILE

CREATE, EDIT, READ = CREATE_FILE.name, EDIT_FILE.name, READ_FILE.name
SCRIPTED = frozenset((CREATE, EDIT, READ))
"""Tools that the script calls by name, built in or not."""
LIST, DESCRIBE, RUN = "list_variables", "describe_variable", "run_python"
"""Tools for a notebook's data: the first two read it, the third computes with it."""
ENTRY = "index.html"


@dataclass(frozen=True, slots=True)
class Think:
    text: str


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class DemoCall:
    name: str
    arguments: Json


Action = Think | Say | DemoCall


@dataclass(frozen=True, slots=True)
class Use:
    """A tool call made for the current prompt, with its result if it has one."""

    call: ToolCall
    result: ToolResult | None

    @property
    def ok(self) -> bool:
        return self.result is None or self.result.ok

    @property
    def denied(self) -> bool:
        """Whether the call was not run because it was not approved."""
        return self.result is not None and self.result.code == "DENIED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    prompt: str
    bound: DemoBindings
    """Names bound to the page."""
    images: tuple[Image, ...]
    uses: tuple[Use, ...]
    path: str
    page: str | None
    """The page before the current prompt; None if the model has not seen it in full."""
    earlier: bool
    """Whether there were files or calls before the current prompt."""
    earlier_prompts: str
    has_files: bool
    own_tools: frozenset[str]
    asking_tools: frozenset[str]
    """The tools that need approval for every call."""
    sees_notebook: bool
    findings: tuple[str, ...] = ()

    def called(self, name: str) -> tuple[Use, ...]:
        return tuple(use for use in self.uses if use.call.name == name)

    @property
    def page_read(self) -> str | None:
        """The page as returned by `read_file` since the current prompt."""
        return next((use.result.text for use in self.called(READ) if use.ok and use.result), None)


def read_conversation(request: Request) -> Conversation:
    facts = request.facts
    messages = request.messages[:-1] if facts.summing_up else request.messages
    index = max((i for i, message in enumerate(messages) if message.role == "user"), default=0)
    before, prompt, after = messages[:index], messages[index : index + 1], messages[index + 1 :]
    parts = [part for message in prompt for part in message.parts]
    path = entry_of(facts.files) or ENTRY
    page = None if path in facts.edited else facts.files.get(path)
    sees_notebook = {LIST, DESCRIBE} <= facts.own_tools
    # Without the variables there is no code to write. The kernel's `run_python` asks; a user's tool may not.
    kernel = {LIST, DESCRIBE, RUN} if sees_notebook else {RUN} & facts.asking_tools
    text, bound = split_prompt(next((part.text for part in parts if isinstance(part, Text)), ""))
    return Conversation(
        prompt=text,
        bound=bound,
        images=tuple(part for part in parts if isinstance(part, Image)),
        uses=_uses(after),
        path=path,
        page=page if isinstance(page, str) else None,
        earlier=bool(facts.files) or any(message.tool_calls for message in before),
        earlier_prompts="\n".join(message.text for message in before if message.role == "user"),
        has_files=bool(facts.files),
        own_tools=facts.own_tools - SCRIPTED - kernel,
        asking_tools=facts.asking_tools,
        sees_notebook=sees_notebook,
    )


def _uses(messages: Sequence[Message]) -> tuple[Use, ...]:
    results = {p.call_id: p for message in messages for p in message.parts if isinstance(p, ToolResult)}
    return tuple(Use(call, results.get(call.id)) for message in messages for call in message.tool_calls)
