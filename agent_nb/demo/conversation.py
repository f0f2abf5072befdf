"""Parses a conversation: the current prompt, the results of its calls so far, and the page before it."""

from dataclasses import dataclass

from agent_nb._base.wire import Json
from agent_nb.core.messages import Image, Text, Thinking, ToolResult
from agent_nb.demo.bound import DemoBindings, split_prompt
from agent_nb.files import entry_of
from agent_nb.providers.base import Request, RequestFacts
from agent_nb.tools.file_tools import CREATE_FILE, EDIT_FILE, READ_FILE

CREATE, EDIT, READ = CREATE_FILE.name, EDIT_FILE.name, READ_FILE.name
LIST, DESCRIBE, RUN = "list_variables", "describe_variable", "run_python"
"""Tools for a notebook's data: the first two read it, the third computes with it."""


@dataclass(frozen=True, slots=True)
class DemoCall:
    name: str
    arguments: Json


Action = Thinking | Text | DemoCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    prompt: str
    bound: DemoBindings
    """Names bound to the page."""
    images: tuple[Image, ...]
    results: tuple[ToolResult, ...]
    """Results of the calls made for the current prompt."""
    path: str
    page: str | None
    """The page before the current prompt; None if the model has not seen it in full."""
    earlier: bool
    """Whether there were files or calls before the current prompt."""
    earlier_prompts: str
    own_tools: frozenset[str]
    sees_notebook: bool
    facts: RequestFacts

    def results_of(self, name: str) -> list[ToolResult]:
        return [result for result in self.results if result.name == name]


def read_conversation(request: Request) -> Conversation:
    facts = request.facts
    messages = request.messages[:-1] if facts.summing_up else request.messages
    index = max((i for i, message in enumerate(messages) if message.role == "user"), default=0)
    before, after = messages[:index], messages[index + 1 :]
    parts = messages[index].parts if messages else ()
    path = entry_of(facts.files) or "index.html"
    page = None if path in facts.edited else facts.files.get(path)
    sees_notebook = {LIST, DESCRIBE} <= facts.own_tools
    # Without the variables there is no code to write. The kernel's `run_python` asks; a user's tool may not.
    kernel = {LIST, DESCRIBE, RUN} if sees_notebook else {RUN} & facts.asking_tools
    text, bound = split_prompt(next((part.text for part in parts if isinstance(part, Text)), ""))
    return Conversation(
        prompt=text,
        bound=bound,
        images=tuple(part for part in parts if isinstance(part, Image)),
        results=tuple(p for message in after for p in message.parts if isinstance(p, ToolResult)),
        path=path,
        page=page if isinstance(page, str) else None,
        earlier=bool(facts.files) or any(message.tool_calls for message in before),
        earlier_prompts="\n".join(message.text for message in before if message.role == "user"),
        own_tools=facts.own_tools - {CREATE, EDIT, READ} - kernel,
        sees_notebook=sees_notebook,
        facts=facts,
    )
